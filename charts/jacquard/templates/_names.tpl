{{/* The chart's name, or what stands for it. */}}
{{- define "jacquard.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{/*
The name of all objects: with room for what is appended in names of 63. A Service may
have no dot in its name, and begins with a letter, which a release need not.
*/}}
{{- define "jacquard.fullname" -}}
{{- $name := include "jacquard.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- if regexMatch "^[0-9]" $release -}}
{{- printf "%s-%s" $name $release | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name $release -}}
{{- $release | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" $release $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* A text as the value of a label: what labels may not have is replaced, or cut off. */}}
{{- define "jacquard.labelValue" -}}
{{- regexReplaceAll "[^A-Za-z0-9]+$" (regexReplaceAll "^[^A-Za-z0-9]+" (regexReplaceAll "[^-A-Za-z0-9_.]" . "_") "" | trunc 63) "" -}}
{{- end }}

{{/* The service account that the operator runs as. */}}
{{- define "jacquard.account" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "jacquard.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{/* What selects the Pods; it never changes. */}}
{{- define "jacquard.selector" -}}
app.kubernetes.io/name: {{ include "jacquard.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/*
Labels that stay the same from version to version: those of CRDs, folders and
roles, which are watched, and would be written anew for nothing.
*/}}
{{- define "jacquard.lasting" -}}
{{ include "jacquard.selector" . }}
app.kubernetes.io/part-of: jacquard
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with omit (.Values.commonLabels | default dict) "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/part-of" "app.kubernetes.io/managed-by" "app.kubernetes.io/version" "helm.sh/chart" }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Annotations of an object that has none of its own. */}}
{{- define "jacquard.annotated" -}}
{{- with .Values.commonAnnotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end }}

{{/* Labels of everything else. */}}
{{- define "jacquard.labels" -}}
helm.sh/chart: {{ include "jacquard.labelValue" (printf "%s-%s" .Chart.Name .Chart.Version) | quote }}
{{ include "jacquard.lasting" . }}
app.kubernetes.io/version: {{ include "jacquard.labelValue" .Chart.AppVersion | quote }}
{{- end }}

{{/* The image, by tag, by digest, or by both. */}}
{{- define "jacquard.image" -}}
{{- with .Values.image -}}
{{- $tag := .tag -}}
{{- if not (or .tag .digest) -}}{{- $tag = $.Chart.AppVersion | replace "+" "_" | trunc 128 -}}{{- end -}}
{{- with dig "imageRegistry" "" ($.Values.global | default dict) -}}
{{- printf "%s/" . -}}
{{- $parts := splitList "/" $.Values.image.repository -}}
{{- if and (gt (len $parts) 1) (or (contains "." (first $parts)) (contains ":" (first $parts)) (eq (first $parts) "localhost")) -}}
{{- $parts = rest $parts -}}
{{- end -}}
{{- join "/" $parts -}}
{{- else -}}
{{- .repository -}}
{{- end -}}
{{- with $tag }}:{{ . }}{{ end -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end }}

{{/*
Settings for --config: kinds.NAME.config of every NAME whose folder is in no
ConfigMap of the release. A folder that is in one has its settings beside it.
*/}}
{{- define "jacquard.settings" -}}
{{- $settings := dict -}}
{{- range $name, $value := omit .Values.kinds "enabled" "custom" "images" -}}
{{- $custom := get ($.Values.kinds.custom | default dict) $name | default "" -}}
{{- $packed := or (has $name ($.Values.kinds.enabled | default list)) (regexMatch "(?m)^kind: ConfigMap\\b" $custom) -}}
{{- if and $value.config (not $packed) }}{{- $_ := set $settings $name $value.config -}}{{- end -}}
{{- end -}}
{{- if $settings }}{{ toYaml $settings }}{{ end -}}
{{- end }}

{{/*
90 % of the limit of memory, in bytes, where it is a plain number or has a
suffix that is known: what Go's collector is to stay below.
*/}}
{{- define "jacquard.gomemlimit" -}}
{{- $limit := dig "limits" "memory" "" (.Values.resources | default dict) -}}
{{- $limit = kindIs "float64" $limit | ternary (printf "%.0f" (float64 $limit)) (toString $limit) -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- if regexMatch "^[0-9]+([kMGT]|[KMGT]i)?$" $limit -}}
{{- $unit := regexFind "[A-Za-z]*$" $limit -}}
{{- div (mul (trimSuffix $unit $limit | atoi) (get $units $unit) 9) 10 -}}
{{- end -}}
{{- end }}

{{/* Whether metrics are asked for by reviews of token and rights. */}}
{{- define "jacquard.reviews" -}}
{{- if and .Values.metrics.enabled .Values.metrics.secure }}yes{{ end -}}
{{- end }}
