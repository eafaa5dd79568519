{{/* The arguments of the operator: only what differs from its own defaults. */}}
{{- define "jacquard.args" -}}
- run
- --operator-namespace=$(POD_NAMESPACE)
- --leader-election-namespace=$(POD_NAMESPACE)
{{- with .Values.leaderElection.leaseDuration }}
- --leader-elect-lease-duration={{ . }}
{{- end }}
{{- with .Values.leaderElection.renewDeadline }}
- --leader-elect-renew-deadline={{ . }}
{{- end }}
{{- with .Values.leaderElection.retryPeriod }}
- --leader-elect-retry-period={{ . }}
{{- end }}
- --buckets={{ int .Values.buckets }}
- --health-probe-bind-address=:8081
- {{ printf "--release=%s" .Release.Name | quote }}
{{- if ne .Values.readiness.folders "release" }}
- --ready-folders={{ .Values.readiness.folders }}
{{- end }}
{{- with .Values.metrics }}
{{- if .enabled }}
- --metrics-bind-address=:{{ .port }}
{{- if not .secure }}
- --metrics-secure=false
{{- else if .certSecret }}
- --metrics-cert-path=/etc/jacquard/metrics
{{- end }}
{{- else }}
- --metrics-bind-address=0
{{- end }}
{{- end }}
{{- if ne (include "jacquard.fullname" .) "jacquard" }}
- --installation=$(POD_NAMESPACE)/{{ include "jacquard.fullname" . }}
{{- end }}
{{- with .Values.log.level }}
- --log-level={{ . }}
{{- end }}
{{- with .Values.namespaces }}
- --namespaces={{ join "," . }}
{{- end }}
{{- with .Values.selector }}
- {{ printf "--selector=%s" . | quote }}
{{- end }}
{{- if .Values.readOnly }}
- --read-only
{{- end }}
{{- if include "jacquard.settings" . }}
- --config=/etc/jacquard/settings/settings.yaml
{{- end }}
{{- range $i, $_ := .Values.kinds.images }}
- --root=/kinds/{{ $i }}
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "jacquard.mounts" -}}
{{- if include "jacquard.settings" . }}
- name: settings
  mountPath: /etc/jacquard/settings
  readOnly: true
{{- end }}
{{- if and (include "jacquard.reviews" .) .Values.metrics.certSecret }}
- name: metrics
  mountPath: /etc/jacquard/metrics
  readOnly: true
{{- end }}
{{- range $i, $_ := .Values.kinds.images }}
- name: kinds-{{ $i }}
  mountPath: /kinds/{{ $i }}
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "jacquard.volumes" -}}
{{- if include "jacquard.settings" . }}
- name: settings
  configMap:
    name: {{ include "jacquard.fullname" . }}-settings
{{- end }}
{{- if and (include "jacquard.reviews" .) .Values.metrics.certSecret }}
- name: metrics
  secret:
    secretName: {{ .Values.metrics.certSecret | quote }}
{{- end }}
{{- range $i, $image := .Values.kinds.images }}
- name: kinds-{{ $i }}
  image:
    reference: {{ $image.reference | quote }}
    pullPolicy: {{ $image.pullPolicy | default "IfNotPresent" }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
