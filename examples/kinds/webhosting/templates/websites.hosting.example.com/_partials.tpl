{{- /* labels: what every child carries, and by which the Pods are selected. */}}
{{- define "labels" -}}
app.kubernetes.io/name: website
app.kubernetes.io/instance: {{ .metadata.name }}
{{- end }}

{{- /* html: a text, so that a browser shows it as it is. */}}
{{- define "html" }}{{ . | replace "&" "&amp;" | replace "<" "&lt;" }}{{ end }}
