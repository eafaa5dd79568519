{{/*
One document of what `jacquard pack` prints, as this release has it: `document`
is parsed, `root` is the chart's context, `name` is that of the CRD, `from` is
what to call it in errors.
*/}}
{{- define "jacquard.packed" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $o := .document -}}
{{- with $o.Error }}{{ fail (printf "%s: is no YAML: %s" $.from .) }}{{ end -}}
{{- include "jacquard.sound" . -}}
{{- if eq $o.kind "CustomResourceDefinition" -}}
{{- if $values.crds.enabled -}}
{{- include "jacquard.crd" . -}}
{{- end -}}
{{- else if eq $o.kind "ConfigMap" -}}
{{- $_ := set $o.metadata "namespace" $root.Release.Namespace -}}
{{- include "jacquard.configured" . -}}
{{- include "jacquard.written" . -}}
{{- else if has $o.kind (list "ClusterRole" "Role") -}}
{{- $users := regexMatch (include "jacquard.ofPeople" .) $o.metadata.name -}}
{{- if $users -}}
{{- if $values.rbac.userRoles }}{{ include "jacquard.written" . }}{{ end -}}
{{- else if $values.rbac.create -}}
{{- include "jacquard.role" . -}}
{{- end -}}
{{- else if $values.rbac.create -}}
{{- include "jacquard.binding" . -}}
{{- end -}}
{{- end }}

{{/*
Puts kinds.NAME.config onto the first ConfigMap of the kind's folder, so that
both change at once. Of settings that `jacquard pack --config` wrote there, those
stay that the values do not have.
*/}}
{{- define "jacquard.configured" -}}
{{- $annotations := .document.metadata.annotations | default dict -}}
{{- $values := (get .root.Values.kinds .name | default dict).config -}}
{{- if and $values (regexMatch "^(1/|$)" (get $annotations "jacquard.dev/part")) -}}
{{- $config := get $annotations "jacquard.dev/config" | fromYaml -}}
{{- with $config.Error }}{{ fail (printf "%s: the annotation jacquard.dev/config is no map: %s" $.from .) }}{{ end -}}
{{- range $key, $value := $values }}{{ $_ := set $config $key $value }}{{ end -}}
{{- $_ := set .document.metadata "annotations" (set $annotations "jacquard.dev/config" (toJson $config)) -}}
{{- end -}}
{{- end }}

{{/* A document with the labels of the release. */}}
{{- define "jacquard.written" -}}
{{- $labels := merge (include "jacquard.lasting" .root | fromYaml) (.document.metadata.labels | default dict) -}}
{{- $_ := set .document.metadata "labels" $labels -}}
{{- with mergeOverwrite (deepCopy (.root.Values.commonAnnotations | default dict)) (.document.metadata.annotations | default dict) -}}
{{- $_ := set $.document.metadata "annotations" . -}}
{{- end -}}
---
{{ toYaml .document }}
{{ end }}

{{/* A CRD, kept when the release goes if the values say so. */}}
{{- define "jacquard.crd" -}}
{{- if .root.Values.crds.keep -}}
{{- $_ := set .document.metadata "annotations" (merge (dict "helm.sh/resource-policy" "keep") (.document.metadata.annotations | default dict)) -}}
{{- end -}}
{{- include "jacquard.written" . -}}
{{- end }}

{{/* A name as packed, `jacquard:…`, of this release. */}}
{{- define "jacquard.renamed" -}}
{{- regexReplaceAll "^jacquard([:-]|$)" .name (printf "%s${1}" (include "jacquard.fullname" .root)) -}}
{{- end }}

{{/* A role of the operator: taken up by this release's, if it is to be taken up. */}}
{{- define "jacquard.role" -}}
{{- $meta := .document.metadata -}}
{{- $_ := set $meta "name" (include "jacquard.renamed" (dict "root" .root "name" $meta.name)) -}}
{{- if hasKey ($meta.labels | default dict) "jacquard.dev/aggregate-to" -}}
{{- $whole := hasSuffix ":cluster" $meta.name | ternary "-cluster" "" -}}
{{- $_ := set $meta.labels "jacquard.dev/aggregate-to" (print (include "jacquard.fullname" .root) $whole) -}}
{{- end -}}
{{- range .document.rules -}}
{{- if has "coordination.k8s.io" .apiGroups -}}
{{- $_ := set . "resourceNames" (regexReplaceAll "jacquard(\\.jacquard\\.dev|-report)" (join " " .resourceNames) (printf "%s${1}" (include "jacquard.fullname" $.root)) | splitList " " | compact) -}}
{{- if not .resourceNames }}{{ $_ := unset . "resourceNames" }}{{ end -}}
{{- end -}}
{{- end -}}
{{- include "jacquard.written" . -}}
{{- end }}

{{/* A binding, to this release's account. */}}
{{- define "jacquard.binding" -}}
{{- $o := .document -}}
{{- $_ := set $o.metadata "name" (include "jacquard.renamed" (dict "root" .root "name" $o.metadata.name)) -}}
{{- $_ := set $o.roleRef "name" (include "jacquard.renamed" (dict "root" .root "name" $o.roleRef.name)) -}}
{{- range $o.subjects -}}
{{- $_ := set . "namespace" $.root.Release.Namespace -}}
{{- $_ := set . "name" (include "jacquard.account" $.root) -}}
{{- end -}}
{{- include "jacquard.written" . -}}
{{- end }}
