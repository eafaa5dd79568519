{{- /* labels: what every child carries, and what the Service selects. */}}
{{- define "labels" -}}
app.kubernetes.io/name: [[ .Singular ]]
app.kubernetes.io/instance: {{ .metadata.name }}
{{- end }}
