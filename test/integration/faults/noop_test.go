package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// noops are documents whose apply, sent again as it is, may still bump the
// resourceVersion, or which the server writes in another way.
var noops = map[string]string{
	"no subjects":           "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: a\nsubjects: []\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: r\n",
	"no rules":              "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: a\nrules: []\n",
	"empty selector":        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: a\nspec:\n  podSelector:\n    matchLabels: {}\n  policyTypes: [Ingress]\n",
	"empty rule":            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: a\nspec:\n  podSelector: {}\n  ingress:\n  - {}\n  egress: []\n",
	"empty label":           "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n    empty: \"\"\n",
	"no labels, no data":    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {}\n  annotations: {}\ndata: {}\nbinaryData: {}\n",
	"empty text":            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\nstringData:\n  empty: \"\"\n",
	"quantity":              "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: c\n    image: i\n    resources:\n      requests:\n        cpu: 1000m\n        memory: 1024Mi\n      limits:\n        cpu: 2\n  volumes:\n  - name: v\n    emptyDir: {}\n",
	"missing protocol":      "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  selector: {}\n  ports:\n  - port: 80\n    name: c\n  - port: 81\n    name: b\n",
	"named ports":           "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  clusterIP: None\n  ports:\n  - name: dns\n    port: 53\n  - name: dns-udp\n    port: 53\n    protocol: UDP\n",
	"template without more": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  selector:\n    matchLabels:\n      app: a\n    matchExpressions: []\n  strategy: {}\n  template:\n    metadata:\n      labels:\n        app: a\n      annotations: {}\n    spec:\n      nodeSelector: {}\n      tolerations: []\n      securityContext: {}\n      containers:\n      - name: c\n        image: i\n        env: []\n        args: []\n        ports:\n        - containerPort: 80\n        - containerPort: 80\n          protocol: UDP\n        resources: {}\n        securityContext: {}\n        livenessProbe:\n          httpGet:\n            port: 80\n      volumes:\n      - name: v\n        emptyDir: {}\n",
	"affinity":              "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: c\n    image: i\n  affinity:\n    podAntiAffinity:\n      preferredDuringSchedulingIgnoredDuringExecution: []\n  tolerations:\n  - operator: Exists\n",
	"claim":                 "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: a\nspec:\n  serviceName: a\n  replicas: 0\n  selector:\n    matchLabels:\n      app: a\n  template:\n    metadata:\n      labels:\n        app: a\n    spec:\n      containers:\n      - name: c\n        image: i\n  volumeClaimTemplates:\n  - metadata:\n      name: v\n    spec:\n      accessModes: [ReadWriteOnce]\n      resources:\n        requests:\n          storage: 1024Mi\n",
	"limits":                "apiVersion: v1\nkind: LimitRange\nmetadata:\n  name: a\nspec:\n  limits:\n  - type: Container\n    default:\n      cpu: 0.5\n",
	"budget":                "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: a\nspec:\n  minAvailable: 50%\n  selector: {}\n",
	"account":               "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: a\nimagePullSecrets: []\nsecrets: []\n",
	"ingress":               "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: a\nspec:\n  tls: []\n  rules:\n  - http:\n      paths:\n      - pathType: Prefix\n        path: /\n        backend:\n          service:\n            name: a\n            port:\n              number: 80\n",
	"zero values":           "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  minReadySeconds: 0\n  paused: false\n  replicas: 0\n  strategy:\n    type: \"\"\n  selector:\n    matchLabels:\n      app: a\n  template:\n    metadata:\n      labels:\n        app: a\n        none: \"\"\n    spec:\n      dnsPolicy: \"\"\n      hostNetwork: false\n      nodeSelector:\n        role: \"\"\n      priorityClassName: \"\"\n      restartPolicy: \"\"\n      serviceAccountName: \"\"\n      containers:\n      - name: c\n        image: i\n        imagePullPolicy: \"\"\n        tty: false\n        workingDir: \"\"\n        env:\n        - name: A\n          value: \"\"\n        readinessProbe:\n          exec: {command: [\"true\"]}\n          initialDelaySeconds: 0\n          timeoutSeconds: 0\n        securityContext:\n          privileged: false\n          runAsUser: 0\n        volumeMounts:\n        - name: v\n          mountPath: /v\n          readOnly: false\n          subPath: \"\"\n      volumes:\n      - name: v\n        emptyDir:\n          medium: \"\"\n",
	"zero values, Service":  "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  externalName: \"\"\n  loadBalancerIP: \"\"\n  publishNotReadyAddresses: false\n  sessionAffinity: \"\"\n  type: \"\"\n  ports:\n  - name: \"\"\n    port: 80\n    nodePort: 0\n",
	"base64 with a break":   "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  b: \"b25l\\n\"\n",
}

// TestNoopsThatBump: each is applied at most twice by a process, not at all at
// rest, and not at all by the next process. All are children of one resource, but
// for what does not get along with Pods beside it: a LimitRange changes them, and
// of a Pod that a custom resource controls Kubernetes cannot say how many are to be
// (CalculateExpectedPodCountFailed), which a budget with a share waits for.
func TestNoopsThatBump(t *testing.T) {
	t.Parallel()
	others, apart := maps.Clone(noops), map[string]string{}
	for _, name := range []string{"limits", "budget"} {
		apart[name] = noops[name]
		delete(others, name)
	}
	for name, documents := range map[string]map[string]string{"without Pods": apart, "others": others} {
		t.Run(name, func(t *testing.T) { noopsRest(t, documents) })
	}
}

func noopsRest(t *testing.T, documents map[string]string) {
	t.Parallel()
	files, names, r := map[string]string{}, map[string]string{}, rest{}
	for i, name := range slices.Sorted(maps.Keys(documents)) {
		document := strings.Replace(documents[name], "  name: a\n", fmt.Sprintf("  name: a%d\n", i), 1)
		files[fmt.Sprintf("child%d.yaml", i)] = document
		child := kit.Parse(t, document)[0]
		names[child.GetName()] = name
		r.children += fmt.Sprintf("---\n{apiVersion: %s, kind: %s, metadata: {name: %s}}\n", child.GetAPIVersion(), child.GetKind(), child.GetName())
	}
	s := build(t, files)
	mark := cluster.Mark(t)
	s.web("")
	s.rests(r)
	s.is("Overridden", "", "")
	first := s.applies(mark)
	for child, name := range names {
		if n := first[child]; n < 1 || n > 2 {
			t.Errorf("%s: %d applies, want 1 or 2", name, n)
		}
	}
	mark = cluster.Mark(t)
	s.web("unused: 1")
	s.rests(r)
	for child, n := range s.applies(mark) {
		t.Errorf("%s: %d applies though nothing changed", names[child], n)
	}
	mark = cluster.Mark(t)
	s.restart()
	s.rests(r)
	for child, n := range s.applies(mark) {
		t.Errorf("%s: %d applies after a restart", names[child], n)
	}
}

// applies counts writes since mark to children, by name.
func (s *site) applies(mark int64) map[string]int {
	n := map[string]int{}
	for _, r := range s.sent(mark) {
		if r.Verb == "patch" && r.Resource != "webs/status" {
			n[r.Name]++
		}
	}
	return n
}
