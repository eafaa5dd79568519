{{- define "store.name" -}}{{ .Chart.Name }}{{- end }}

{{- define "store.fullname" -}}
{{- printf "%s-%s" .Release.Name (include "store.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "store.headless" -}}
{{ printf "%s-headless" (include "store.fullname" .) }}
{{- end }}

{{- define "store.labels" -}}
app.kubernetes.io/name: {{ include "store.name" .context }}
app.kubernetes.io/instance: {{ .context.Release.Name }}
app.kubernetes.io/managed-by: {{ .context.Release.Service }}
helm.sh/chart: {{ .context.Chart.Name }}-{{ .context.Chart.Version | replace "+" "_" }}
{{- if .component }}
app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- end }}

{{- define "store.selector" -}}
app.kubernetes.io/name: {{ include "store.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "store.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- with .Values.image.registry }}{{ . }}/{{ end }}{{ .Values.image.repository }}:{{ $tag }}
{{- end }}

{{- define "store.secretName" -}}
{{- if .Values.auth.existingSecret -}}
{{- .Values.auth.existingSecret -}}
{{- else -}}
{{- include "store.fullname" . -}}
{{- end -}}
{{- end }}

{{/* Draws the password of replication, or keeps the one that is there. */}}
{{- define "store.replicationPassword" -}}
{{- $secret := lookup "v1" "Secret" .Release.Namespace (include "store.fullname" .) -}}
{{- if and $secret (hasKey $secret.data "replication-password") -}}
{{- index $secret.data "replication-password" | b64dec -}}
{{- else -}}
{{- randAlphaNum 32 -}}
{{- end -}}
{{- end }}

{{- define "store.pdb.apiVersion" -}}
{{- if .Capabilities.APIVersions.Has "policy/v1" -}}
policy/v1
{{- else -}}
policy/v1beta1
{{- end -}}
{{- end }}

{{/* Nobody calls this. */}}
{{- define "store.unused" -}}
{{ .Release.Revision }} {{ now | date "2006" }}
{{- end }}
