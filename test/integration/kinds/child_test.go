package kinds

import (
	"fmt"
	"strings"
)

// A childKind writes the body of a document below its metadata.
type childKind struct {
	apiVersion, kind string
	body             func(a *author, name string) string
	// policy are annotations of ours.
	policy string
}

// catalogue are the kinds of children that random folders are made of. Of
// autoscalers only the old API is here: the new one is judged by a condition
// that its controller writes after 15 s.
var catalogue = []childKind{
	{apiVersion: "v1", kind: "ConfigMap", body: func(a *author, _ string) string { return "data:\n" + a.entries(2+a.r.IntN(5), 2) }},
	{apiVersion: "v1", kind: "Secret", body: func(a *author, _ string) string { return "stringData:\n" + a.entries(1+a.r.IntN(4), 2) }},
	{apiVersion: "v1", kind: "Service", body: service},
	{apiVersion: "apps/v1", kind: "Deployment", body: func(a *author, name string) string {
		return "spec:\n  replicas: " + a.number(true) + "\n" + workload(a, name)
	}},
	{apiVersion: "apps/v1", kind: "StatefulSet", body: func(a *author, name string) string {
		return "spec:\n  serviceName: none\n  podManagementPolicy: Parallel\n  replicas: " + a.number(true) + "\n" + workload(a, name)
	}},
	{apiVersion: "apps/v1", kind: "DaemonSet", body: func(a *author, name string) string { return "spec:\n" + workload(a, name) }},
	{apiVersion: "v1", kind: "ServiceAccount", body: func(a *author, _ string) string {
		return "automountServiceAccountToken: " + pick(a.r, []string{"false", "true", `{{ hasAPI "v1" "Secret" }}`}) + "\n"
	}},
	{apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", body: func(a *author, _ string) string {
		return "rules:\n- apiGroups: [\"\"]\n  resources: [configmaps]\n  resourceNames:\n  - " + a.text() + "\n  verbs:\n  - get\n  {{- if " +
			a.condition() + " }}\n  - list\n  {{- end }}\n"
	}},
	{apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", body: func(a *author, _ string) string {
		return "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: some\nsubjects:\n- kind: User\n  apiGroup: rbac.authorization.k8s.io\n  name: user-" + fmt.Sprint(a.r.IntN(9)) + "\n{{- if " + a.condition() + " }}\n- kind: Group\n  apiGroup: rbac.authorization.k8s.io\n  name: more\n{{- end }}\n"
	}},
	{apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", body: func(a *author, name string) string {
		return "spec:\n  podSelector:\n    matchLabels:\n      app: " + name +
			"\n  policyTypes:\n  - Ingress\n  ingress:\n  - ports:\n    - port: 80\n      protocol: TCP\n    {{- if " + a.condition() +
			" }}\n    - port: 443\n      protocol: TCP\n    {{- end }}\n"
	}},
	{apiVersion: "policy/v1", kind: "PodDisruptionBudget", body: func(a *author, _ string) string {
		return "spec:\n  maxUnavailable: " + a.number(false) + "\n  selector:\n    matchLabels:\n      app: nobody\n"
	}},
	{apiVersion: "batch/v1", kind: "CronJob", body: func(a *author, _ string) string {
		return "spec:\n  schedule: 0 0 1 1 *\n  suspend: {{ if " + a.condition() + " }}true{{ else }}false{{ end }}\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers:\n" + container(a, 10)
	}},
	{apiVersion: "batch/v1", kind: "Job", policy: "jacquard.dev/on-immutable: recreate", body: func(a *author, _ string) string {
		return "spec:\n  backoffLimit: " + a.number(false) + "\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n" +
			container(a, 6)
	}},
	{apiVersion: "networking.k8s.io/v1", kind: "Ingress", body: func(a *author, name string) string {
		return "spec:\n  rules:\n  - host: " + fmt.Sprintf("h%d.example.com", a.r.IntN(9)) + "\n    http:\n      paths:\n      - path: /\n        pathType: Prefix\n        backend:\n          service:\n            name: " + name + "\n            port:\n              number: {{ add 80 (" + strings.Trim(a.number(false), "{ }") + ") }}\n"
	}},
	{apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler", body: func(a *author, _ string) string {
		return "spec:\n  scaleTargetRef:\n    apiVersion: apps/v1\n    kind: Deployment\n    name: nobody\n  minReplicas: 1\n  maxReplicas: {{ add 1 (" + strings.Trim(a.number(false), "{ }") + ") }}\n"
	}},
	{apiVersion: "v1", kind: "Pod", policy: "jacquard.dev/on-immutable: recreate", body: func(a *author, _ string) string {
		return "spec:\n  terminationGracePeriodSeconds: 0\n  containers:\n" + container(a, 2)
	}},
}

// gadget is a kind of child whose CRD the test makes; its spec takes anything.
func gadget(group, kind string) childKind {
	return childKind{apiVersion: group + "/v1", kind: kind, body: func(a *author, _ string) string {
		whole := pick(a.r, []string{"  all: {{ " + a.root + ".spec }}\n", "  all: {{ " + a.root + ".spec | toJson }}\n",
			"  all:\n    {{- toYaml " + a.root + ".spec | nindent 4 }}\n"})
		return "spec:\n" + whole + a.entries(a.r.IntN(3), 2)
	}}
}

func service(a *author, name string) string {
	return "spec:\n  selector:\n    app: " + name + "\n  ports:\n  - name: first\n    port: 80\n" +
		"  {{- range $i := until (int (" + strings.Trim(a.number(false), "{ }") +
		")) }}\n  - name: more-{{ $i }}\n    port: {{ add 8000 $i }}\n    targetPort: web\n  {{- end }}\n"
}

// workload is selector and Pods.
func workload(a *author, name string) string {
	return "  selector:\n    matchLabels:\n      app: " + name + "\n  template:\n    metadata:\n      labels:\n        app: " + name +
		"\n    spec:\n      terminationGracePeriodSeconds: 0\n      containers:\n" + container(a, 6)
}

// container is one item of a list of containers.
func container(a *author, indent int) string {
	lines := "- name: main\n  image: example.com/main:{{ \"v1\" }}\n  env:\n  - name: FIRST\n    value: " + a.text() + "\n"
	if a.r.IntN(2) == 0 {
		lines += "  {{- if " + a.condition() + " }}\n  - name: SECOND\n    value: " + a.text() + "\n  {{- end }}\n"
	}
	in := strings.Repeat(" ", indent)
	return in + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n"+in) + "\n"
}
