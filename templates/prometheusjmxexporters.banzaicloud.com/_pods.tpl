{{- /* pods: what "running" says, with at most so many Pods that are not left alone
       as the setting says. Those that this resource serves already come first,
       so that a new Pod never takes the place of one. */}}
{{- define "pods" }}
{{- $running := fromYamlArray (include "running" .) }}
{{- $old := config "pods" }}
{{- $new := config "pods" }}
{{- range $running }}{{ if .served }}{{ $new = sub $new 1 }}{{ end }}{{ end }}
{{- range $running }}
{{- if .skip }}
- {{ . }}
{{- else if and .served (gt $old 0) }}
- {{ . }}
{{- $old = sub $old 1 }}
{{- else if and (not .served) (gt $new 0) }}
- {{ . }}
{{- $new = sub $new 1 }}
{{- else }}
- name: {{ .name }}
  skip: is more than the {{ config "pods" }} that are served
{{- end }}
{{- end }}
{{- end }}

{{- /* running: the Pods that match and run, as a list sorted by name. Each has its
       name and either skip, why it is left alone, or what its ephemeral
       container says: if this resource made one earlier (served), that one's
       own, which never changes, and how it failed if it did; else what is
       wanted. */}}
{{- define "running" }}
{{- range select "v1" "Pod" (dict "matchLabels" .spec.labelSelector) }}
{{- if and (eq .status.phase "Running") (not .metadata.deletionTimestamp) }}
{{- $made := fromYaml (include "made" .) }}
- name: {{ .metadata.name }}
  {{- if and $made (or (ne $made.owner $.metadata.name) (not $made.port)) }}
  skip: {{ if and $made.owner $made.port }}is served by PrometheusJmxExporter {{ $made.owner }}{{ else }}has an ephemeral container jmx-exporter of unknown origin{{ end }}
  {{- else if $made }}
  served: true
  image: {{ $made.image }}
  target: {{ $made.target }}
  port: {{ $made.port }}
  configMap: {{ $made.configMap }}
  security: {{ $made.security }}
  {{- range .status.ephemeralContainerStatuses }}
  {{- if ne .name "jmx-exporter" }}
  {{- else if .state.terminated.exitCode }}
  failed: ended with code {{ .state.terminated.exitCode }}{{ with .state.terminated.message }} ({{ trim . | trunc 300 }}){{ end }}
  {{- else if not (has .state.waiting.reason (list nil "" "ContainerCreating" "PodInitializing")) }}
  {{- /* The kubelet takes turns with these two, and each turn would be news. */}}
  failed: does not start ({{ .state.waiting.reason | replace "ErrImagePull" "ImagePullBackOff" }})
  {{- end }}
  {{- end }}
  {{- else if has $.spec.port (fromYamlArray (include "declared" .)) }}
  skip: declares port {{ $.spec.port }} itself
  {{- else }}
  image: {{ config "image" }}
  target: {{ (first .spec.containers).name }}
  port: {{ $.spec.port }}
  configMap:
    name: {{ $.spec.config.configMapName }}
    key: {{ $.spec.config.configMapKey }}
  security: {{ (first .spec.containers).securityContext }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* made: what the Pod's ephemeral container jmx-exporter says, if it has one.
       Without owner and port none of these resources made it. */}}
{{- define "made" }}
{{- range .spec.ephemeralContainers }}
{{- if eq .name "jmx-exporter" }}
image: {{ .image }}
target: {{ .targetContainerName }}
security: {{ .securityContext }}
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

{{- /* declared: the ports that the Pod's containers declare, sidecars included, but
       not other init containers: those have ended. */}}
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

{{- /* few: the first items of a list as one text, and how many more there are. */}}
{{- define "few" -}}
{{ slice . 0 (min 20 (len .)) | join "; " }}{{ if gt (len .) 20 }}; and {{ sub (len .) 20 }} more{{ end }}.
{{- end }}
