{{- /* labels: what every child carries, and what the Service selects. */}}
{{- define "labels" -}}
app: PodRoute
podroute_cr: {{ .metadata.name }}
tier: backend-podroute
{{- end }}

{{- /* prefix: what the names of Service and Route begin with. */}}
{{- define "prefix" -}}
{{ eq .spec.name "pod-route" | ternary "podroute" .spec.name }}
{{- end }}
