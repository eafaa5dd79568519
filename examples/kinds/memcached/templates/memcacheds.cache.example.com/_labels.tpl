{{- /* labels: what the Deployment and its Pods carry, and what selects the Pods. */}}
{{- define "labels" -}}
app.kubernetes.io/name: memcached
app.kubernetes.io/instance: {{ .metadata.name }}
{{- end }}
