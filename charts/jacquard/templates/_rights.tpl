{{/*
The roles of files/base.yaml, each bound unless another takes it up: reviews
only where metrics are asked for by them, events of CRDs by themselves only
where the others are in some namespaces.
*/}}
{{- define "jacquard.base" -}}
{{- range regexSplit "(?m)^---[ \t]*$" (.Files.Get "files/base.yaml") -1 -}}
{{- with fromYaml . -}}
{{- $o := . -}}
{{- $wanted := true -}}
{{- if hasSuffix "-metrics" $o.metadata.name }}{{ $wanted = include "jacquard.reviews" $ }}{{ end -}}
{{- $elsewhere := eq ($o.metadata.namespace | default "") "default" -}}
{{- if $elsewhere }}{{ $wanted = $.Values.rbac.namespaced }}{{ end -}}
{{- if $wanted -}}
{{- if and (eq $o.kind "Role") (not $elsewhere) }}{{ $_ := set $o.metadata "namespace" $.Release.Namespace }}{{ end -}}
{{- include "jacquard.role" (dict "root" $ "document" $o) -}}
{{- if not (hasKey $o.metadata.labels "jacquard.dev/aggregate-to") -}}
{{- $in := list -}}
{{- if eq $o.kind "Role" }}{{ $in = list $o.metadata.namespace }}{{ end -}}
{{- include "jacquard.bound" (dict "root" $ "role" $o.metadata.name "kind" $o.kind "namespaces" $in) }}
{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* A role bound to the operator's account: in the whole cluster, or in `namespaces`. */}}
{{- define "jacquard.bound" -}}
{{- $o := . -}}
{{- range .namespaces | default (list "") }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "RoleBinding" "ClusterRoleBinding" (ne . "") }}
metadata:
  name: {{ $o.role }}
  {{- with . }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "jacquard.lasting" $o.root | nindent 4 }}
  {{- with include "jacquard.annotated" $o.root }}{{ . | nindent 2 }}{{ end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $o.kind | default "ClusterRole" }}
  name: {{ $o.role }}
subjects:
  - kind: ServiceAccount
    name: {{ include "jacquard.account" $o.root }}
    namespace: {{ $o.root.Release.Namespace }}
{{- end }}
{{- end }}
