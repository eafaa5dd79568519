{{- define "agent.labels" -}}
app: {{ .Chart.Name }}
release: {{ .Release.Name }}
heritage: {{ .Release.Service }}
chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "agent.config" -}}
endpoint: {{ tpl .Values.endpoint . | quote }}
cluster: {{ .Values.clusterName | default .Release.Namespace }}
pipelines:
{{- range $name, $pipeline := .Values.pipelines }}
  {{ $name }}:
    path: {{ $pipeline.path }}
    {{- if $pipeline.parsers }}
    parsers:
    {{- range $pipeline.parsers }}
    - {{ . }}
    {{- end }}
    {{- end }}
    {{- if hasKey $pipeline "sampling" }}
    sampling: {{ $pipeline.sampling }}
    {{- end }}
{{- end }}
{{- with .Values.extraConfig }}
{{ tpl . $ }}
{{- end }}
{{- end -}}
