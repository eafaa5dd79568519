{{- define "labels" -}}
app: PodRoute
podroute_cr: {{ .metadata.name }}
tier: backend-podroute
{{- end }}

{{- define "prefix" -}}
{{ eq .spec.name "pod-route" | ternary "podroute" .spec.name }}
{{- end }}
