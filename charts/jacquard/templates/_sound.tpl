{{/*
Fails for a document that `jacquard pack` would not print of a kind: what is
given as a kind must bring neither rights for others nor another kind's folder.
`document` is parsed, `name` is that of the CRD, `from` is what to call it in
errors.
*/}}
{{- define "jacquard.sound" -}}
{{- $o := .document -}}
{{- $meta := $o.metadata | default dict -}}
{{- $what := printf "%s: %s %s is none of what `jacquard pack %s` prints" .from ($o.kind | default "document without kind") ($meta.name | default "without name") .name -}}
{{- $known := dict
      "CustomResourceDefinition" "apiextensions.k8s.io/v1"
      "ConfigMap" "v1"
      "ClusterRole" "rbac.authorization.k8s.io/v1"
      "Role" "rbac.authorization.k8s.io/v1"
      "RoleBinding" "rbac.authorization.k8s.io/v1" -}}
{{- if ne (get $known ($o.kind | default "") | default "none") ($o.apiVersion | default "") -}}
{{- fail $what -}}
{{- end -}}
{{- $ours := printf "^jacquard:%s(:[-a-z0-9.:]+)?$" (regexQuoteMeta .name) -}}
{{- if eq $o.kind "CustomResourceDefinition" -}}
{{- if ne $meta.name .name }}{{ fail (printf "%s: it defines another kind" $what) }}{{ end -}}
{{- else if eq $o.kind "ConfigMap" -}}
{{- $of := get ($meta.annotations | default dict) "jacquard.dev/kind" | default (get ($meta.labels | default dict) "jacquard.dev/kind") -}}
{{- if or (ne $of .name) (not (hasPrefix (printf "jacquard-%s" .name | trunc 240) $meta.name)) -}}
{{- fail (printf "%s: it holds no folder of this kind" $what) -}}
{{- end -}}
{{- else if not (regexMatch $ours ($meta.name | default "")) -}}
{{- fail (printf "%s: it is not called jacquard:%s; pack it without --installation" $what .name) -}}
{{- else if eq $o.kind "RoleBinding" -}}
{{- $subjects := $o.subjects | default list -}}
{{- if not (and (eq $o.roleRef.kind "Role") (regexMatch $ours $o.roleRef.name) (eq (len $subjects) 1) (eq (first $subjects).kind "ServiceAccount")) -}}
{{- fail (printf "%s: it binds more than a Role of the kind to the operator" $what) -}}
{{- end -}}
{{- else -}}
{{- include "jacquard.soundRole" (dict "document" $o "name" .name "what" $what) -}}
{{- end -}}
{{- end }}

{{/*
Fails for values under the names that they had before the first release, which the schema lets
pass only so that the present name can be said.
*/}}
{{- define "jacquard.renamedValues" -}}
{{- if hasKey .Values "crd" }}{{ fail "crd is called crds now" }}{{ end -}}
{{- if hasKey .Values.flowControl "shares" }}{{ fail "flowControl.shares is called flowControl.nominalConcurrencyShares now" }}{{ end -}}
{{- if hasKey .Values.leaderElection "enabled" }}{{ fail "leaderElection.enabled has no effect: take it out, a leader is always elected" }}{{ end -}}
{{- end }}

{{/*
Fails where an upgrade would take away kinds that an earlier chart enabled by
default. A Deployment says that its chart enables none; `kinds.enabled` that is
null says that they are to go.
*/}}
{{- define "jacquard.formerDefault" -}}
{{- if and .Release.IsUpgrade (hasKey .Values.kinds "enabled") (not .Values.kinds.enabled) -}}
{{- $live := lookup "apps/v1" "Deployment" .Release.Namespace (include "jacquard.fullname" .) -}}
{{- if and $live (not (hasKey ($live.metadata.annotations | default dict) "jacquard.dev/kinds")) -}}
{{- $served := list -}}
{{- range (lookup "v1" "ConfigMap" .Release.Namespace "").items -}}
{{- $name := get (.metadata.labels | default dict) "jacquard.dev/kind" -}}
{{- $mine := eq (get (.metadata.annotations | default dict) "meta.helm.sh/release-name") $.Release.Name -}}
{{- if and $mine ($.Files.Get (printf "files/kinds/%s.yaml" $name)) (not (hasKey ($.Values.kinds.custom | default dict) $name)) -}}
{{- $served = append $served $name -}}
{{- end -}}
{{- end -}}
{{- if $served -}}
{{- fail (printf "kinds.enabled: no kind is enabled by default any more, and this release serves some by the former default: add --set 'kinds.enabled={%s}'. If they are to go, and their rights with them: --set kinds.enabled=null" (join "," ($served | uniq | sortAlpha))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Whether a role is that of people: the regular expression of their names. */}}
{{- define "jacquard.ofPeople" -}}^jacquard:[^:]+:(view|edit|admin)$
{{- end }}

{{/*
The same of a role, whose name is that of one of the kind: no wildcards, nothing
without names that gives further rights, and to people only the kind itself.
*/}}
{{- define "jacquard.soundRole" -}}
{{- $what := .what -}}
{{- $meta := .document.metadata -}}
{{- $people := regexMatch (include "jacquard.ofPeople" .) $meta.name -}}
{{- if .document.aggregationRule }}{{ fail (printf "%s: it takes up other roles" $what) }}{{ end -}}
{{- range $key, $_ := $meta.labels | default dict -}}
{{- if not (regexMatch (ternary "^rbac[.]authorization[.]k8s[.]io/aggregate-to-(view|edit|admin)$" "^jacquard[.]dev/aggregate-to$" $people) $key) -}}
{{- fail (printf "%s: label %s" $what $key) -}}
{{- end -}}
{{- end -}}
{{- $plural := splitList "." .name | first -}}
{{- $group := trimPrefix (printf "%s." $plural) .name -}}
{{- range .document.rules -}}
{{- $all := concat (.apiGroups | default list) (.resources | default list) (.verbs | default list) -}}
{{- if or .nonResourceURLs (contains "*" (join " " $all)) -}}
{{- fail (printf "%s: a rule has wildcards, or is about URLs" $what) -}}
{{- end -}}
{{- if and (not .resourceNames) (or (has "bind" .verbs) (has "escalate" .verbs) (has "impersonate" .verbs)) -}}
{{- fail (printf "%s: a rule gives further rights without naming them" $what) -}}
{{- end -}}
{{- if and $people (or (ne (join " " .apiGroups) $group) (not (regexMatch (printf "^%s(/[a-z]+)?$" $plural) (join " " .resources)))) -}}
{{- fail (printf "%s: people get rights on more than the kind" $what) -}}
{{- end -}}
{{- end -}}
{{- end }}
