{{- /* deployment: the spec of one version's Deployment; .resource, .version, .image and .replicas. */}}
{{- define "deployment" -}}
replicas: {{ .replicas }}
selector:
  matchLabels: {bluegreenapp: {{ .resource.metadata.name }}, version: {{ .version }}}
template:
  metadata:
    labels: {bluegreenapp: {{ .resource.metadata.name }}, version: {{ .version }}}
  spec:
    containers:
    - name: main
      image: {{ .image }}
      ports:
      - name: http
        containerPort: {{ .resource.spec.port }}
      readinessProbe:
        tcpSocket: {port: http}
{{- end }}
