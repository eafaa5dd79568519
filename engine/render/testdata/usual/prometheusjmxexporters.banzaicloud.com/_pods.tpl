{{- define "pods" }}
{{- $running := fromYamlArray (include "running" .) }}
{{- $old := config "pods" }}
{{- $new := config "pods" }}
{{- range $running }}{{ if .served }}{{ $new = sub $new 1 }}{{ end }}{{ end }}
{{- range $running }}
{{- if .skip }}
- {{ toJson . }}
{{- else if and .served (gt $old 0) }}
- {{ toJson . }}
{{- $old = sub $old 1 }}
{{- else if and (not .served) (gt $new 0) }}
- {{ toJson . }}
{{- $new = sub $new 1 }}
{{- else }}
- name: {{ .name }}
  skip: is more than the {{ config "pods" }} that are served
{{- end }}
{{- end }}
{{- end }}

{{- define "running" }}
{{- range select "v1" "Pod" (dict "matchLabels" .spec.labelSelector) }}
{{- if and (eq .status.phase "Running") (not .metadata.deletionTimestamp) }}
{{- $made := fromYaml (include "made" .) }}
- name: {{ .metadata.name }}
  {{- if and $made (or (ne $made.owner $.metadata.name) (not $made.port)) }}
  skip: {{ if and $made.owner $made.port }}is served by PrometheusJmxExporter {{ $made.owner }}{{ else }}has an ephemeral container jmx-exporter of unknown origin{{ end }}
  {{- else if $made }}
  served: true
  image: {{ $made.image | quote }}
  target: {{ $made.target }}
  port: {{ $made.port }}
  configMap: {{ toJson $made.configMap }}
  security: {{ toJson $made.security }}
  {{- range .status.ephemeralContainerStatuses }}
  {{- if ne .name "jmx-exporter" }}
  {{- else if .state.terminated.exitCode }}
  failed: ended with code {{ .state.terminated.exitCode }}{{ with .state.terminated.message }} ({{ trim . | trunc 300 }}){{ end }}
  {{- else if not (has .state.waiting.reason (list nil "" "ContainerCreating" "PodInitializing")) }}
  failed: does not start ({{ .state.waiting.reason | replace "ErrImagePull" "ImagePullBackOff" }})
  {{- end }}
  {{- end }}
  {{- else if has $.spec.port (fromYamlArray (include "declared" .)) }}
  skip: declares port {{ $.spec.port }} itself
  {{- else }}
  image: {{ config "image" | quote }}
  target: {{ (first .spec.containers).name }}
  port: {{ $.spec.port }}
  configMap:
    name: {{ $.spec.config.configMapName }}
    key: {{ $.spec.config.configMapKey }}
  security: {{ toJson (first .spec.containers).securityContext }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "made" }}
{{- range .spec.ephemeralContainers }}
{{- if eq .name "jmx-exporter" }}
image: {{ .image | quote }}
target: {{ .targetContainerName }}
security: {{ toJson .securityContext }}
{{- range .env }}
{{- if eq .name "JMX_EXPORTER_OWNER" }}
owner: {{ .value }}
{{- else if and (eq .name "JMX_EXPORTER_PORT") (regexMatch "^[1-9][0-9]{0,4}$" (.value | default "")) }}
port: {{ int .value }}
{{- else if eq .name "JMX_EXPORTER_CONFIG" }}
configMap:
  name: {{ .valueFrom.configMapKeyRef.name }}
  key: {{ .valueFrom.configMapKeyRef.key }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "declared" }}
{{- range .spec.containers }}
{{- template "ports" . }}
{{- end }}
{{- range .spec.initContainers }}
{{- if eq .restartPolicy "Always" }}
{{- template "ports" . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "ports" }}
{{- range .ports }}
- {{ .containerPort }}
{{- end }}
{{- end }}
