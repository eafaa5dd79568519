{{- /* labels: what every child carries, and by which the Pods are selected. */}}
{{- define "labels" -}}
app.kubernetes.io/name: webapp
app.kubernetes.io/instance: {{ .metadata.name }}
{{- end }}

{{- /* probe: one of spec.probes, as Kubernetes wants it. */}}
{{- define "probe" -}}
httpGet:
  path: {{ .path }}
  port: http
periodSeconds: {{ .periodSeconds }}
failureThreshold: {{ .failureThreshold }}
{{- end }}

{{- /* http: where the requests for a host of the Ingress go. */}}
{{- define "http" -}}
paths:
- path: /
  pathType: Prefix
  backend:
    service:
      name: {{ .metadata.name }}
      port:
        name: http
{{- end }}
