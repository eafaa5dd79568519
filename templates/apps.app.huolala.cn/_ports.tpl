{{- /* containerPorts: one for each pair of number and protocol that the Service leads to.
       A named targetPort names the container's port of the Service's own number. */}}
{{- define "containerPorts" }}
{{- $names := dict }}
{{- $taken := list }}
{{- range .spec.ports }}
  {{- if kindIs "string" .targetPort }}
    {{- if has .targetPort $taken }}
      {{- fail "spec.ports: no two ports may have one named targetPort, as it names a single port of the container" }}
    {{- end }}
    {{- $taken = append $taken .targetPort }}
    {{- $names = set $names (printf "%d/%s" .port .protocol) .targetPort }}
  {{- end }}
{{- end }}
{{- $seen := list }}
{{- range .spec.ports }}
  {{- $number := .port }}
  {{- if and .targetPort (not (kindIs "string" .targetPort)) }}{{ $number = .targetPort }}{{ end }}
  {{- $pair := printf "%d/%s" $number .protocol }}
  {{- if not (has $pair $seen) }}
- name: {{ get $names $pair }}
  containerPort: {{ $number }}
  protocol: {{ .protocol }}
    {{- $seen = append $seen $pair }}
  {{- end }}
{{- end }}
{{- end }}
