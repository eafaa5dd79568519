{{ define "page.labels" -}}
app.kubernetes.io/name: page
app.kubernetes.io/instance: {{ .metadata.name }}
{{- end }}
