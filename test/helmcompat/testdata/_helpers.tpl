{{/*
The partials that a fresh chart is generated with, in the dialect of a resource.
*/}}
{{- define "shop.name" -}}
{{- default "shop" .spec.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "shop.fullname" -}}
{{- if .spec.fullnameOverride }}
{{- .spec.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default "shop" .spec.nameOverride }}
{{- if contains $name .metadata.name }}
{{- .metadata.name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .metadata.name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "shop.chart" -}}
{{- printf "%s-%s" "shop" "0.1.0" | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "shop.labels" -}}
helm.sh/chart: {{ include "shop.chart" . }}
{{ include "shop.selectorLabels" . }}
{{- if .spec.image.tag }}
app.kubernetes.io/version: {{ .spec.image.tag | quote }}
{{- end }}
app.kubernetes.io/managed-by: jacquard
{{- end }}

{{- define "shop.selectorLabels" -}}
app.kubernetes.io/name: {{ include "shop.name" . }}
app.kubernetes.io/instance: {{ .metadata.name }}
{{- end }}

{{- define "shop.serviceAccountName" -}}
{{- if (.spec.serviceAccount).create }}
{{- default (include "shop.fullname" .) .spec.serviceAccount.name }}
{{- else }}
{{- default "default" (.spec.serviceAccount).name }}
{{- end }}
{{- end }}

{{- define "shop.image" -}}
{{- $tag := default "latest" .image.tag -}}
{{- if .digest -}}
{{ .image.repository }}@{{ .digest }}
{{- else -}}
{{ .image.repository }}:{{ $tag }}
{{- end -}}
{{- end }}

{{- define "shop.env" -}}
- name: NAME
  value: {{ .metadata.name | quote }}
- name: REPLICAS
  value: {{ .spec.replicas | quote }}
{{- end }}

{{- define "shop.port" -}}
{{ .spec.port }}
{{- end }}

{{- define "shop.nothing" -}}
{{- end }}

{{- define "shop.config" -}}
server:
  port: {{ .spec.port }}
  name: {{ .metadata.name }}
names:
{{- range .spec.names }}
- {{ . }}
{{- end }}
{{- end }}

{{- define "shop.call" -}}
{{- $context := index . 0 -}}
{{- $suffix := index . 1 -}}
{{ $context.metadata.name }}-{{ $suffix }}
{{- end }}

{{- define "shop.container" -}}
name: {{ .name }}
image: {{ .image | quote }}
{{- with .command }}
command:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- if .root.spec.enabled }}
env:
- name: OWNER
  value: {{ .root.metadata.name }}
{{- end }}
{{- end }}
