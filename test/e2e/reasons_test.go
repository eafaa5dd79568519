package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runners is a kind whose folder says reportPodReasons. Nothing checks its image.
const runners = "runners.reasons.example.com"

// runnerFiles are its root, by their names.
var runnerFiles = map[string]string{
	"crds/" + runners + ".yaml": `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + runners + `}
spec:
  group: reasons.example.com
  scope: Namespaced
  names: {kind: Runner, listKind: RunnerList, plural: runners, singular: runner}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [image, replicas]
            properties:
              image: {type: string}
              replicas: {type: integer, minimum: 1, maximum: 5}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
`,
	"templates/" + runners + "/kind.yaml": `
apiVersion: jacquard.dev/v1alpha1
kind: KindSettings
reportPodReasons: true
`,
	"templates/" + runners + "/deployment.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .metadata.name }}
spec:
  replicas: {{ .spec.replicas }}
  selector:
    matchLabels: {runner: {{ trunc 63 .metadata.name }}}
  template:
    metadata:
      labels: {runner: {{ trunc 63 .metadata.name }}}
    spec:
      containers:
      - name: main
        image: {{ .spec.image }}
`,
}

// Images that no Pod can run with, and what a kubelet says of them.
const (
	absentImage  = "registry.example.com/team/no-such-image:v1"
	misnamed     = "registry.example.com/Team/Web:v1"
	admittedText = `violates PodSecurity "restricted:latest"`
)

// reasons: what the children of a resource wait for is told where a person looks: by
// tree and status always, and in the resource what the child's own conditions say and,
// where kind.yaml says reportPodReasons, what its Pods do.
func reasons(t *testing.T, n *realNode) {
	n.apply(t, admin, strings.ReplaceAll(restricted, "name: "+namespace, "name: guarded"))
	root := t.TempDir()
	for name, text := range runnerFiles {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, text)
	}
	n.apply(t, admin, n.pack(t, root, runners))
	of := map[string]string{"App": "app.huolala.cn/v1", "Runner": "reasons.example.com/v1"}
	cases := []struct {
		kind, in, name, image string
		reason                string // in the resource, whose condition Stalled it gives if stalled
		stalled               bool
		shown                 string // by tree and status
	}{
		{"App", "guarded", "app-not-admitted", absentImage, admittedText, false, admittedText},
		{"App", "default", "app-not-pulled", absentImage, "", false, absentImage},
		{"App", "default", "app-misnamed", misnamed, "", false, "InvalidImageName"},
		{"Runner", "guarded", "runner-not-admitted", absentImage, admittedText, false, admittedText},
		{"Runner", "default", "runner-not-pulled", absentImage, "ImagePullBackOff", false, absentImage},
		{"Runner", "default", "runner-misnamed", misnamed, "InvalidImageName", true, "InvalidImageName"},
	}
	for _, c := range cases {
		n.apply(t, admin, fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: %s}\nspec: {replicas: 1, image: %q}\n",
			of[c.kind], c.kind, c.name, c.in, c.image))
	}
	for _, c := range cases {
		what := fmt.Sprintf("%s %s/%s", c.kind, c.in, c.name)
		eventually(t, what+" has its reason", func() error { return n.reasoned(c.kind, c.in, c.name, c.reason, c.stalled) })
		kind := "apps.app.huolala.cn"
		if c.kind == "Runner" {
			kind = runners
		}
		for _, args := range [][]string{{"tree", kind + "/" + c.in + "/" + c.name}, {"status"}} {
			eventually(t, strings.Join(args, " ")+" tells of "+what, func() error { return n.tells(c.name, c.shown, args...) })
		}
	}
	for _, kind := range []string{"App", "Runner"} {
		for _, c := range cases {
			if c.kind == kind {
				n.kubectl(t, "delete", kind, "--namespace", c.in, c.name)
			}
		}
	}
	n.kubectl(t, "annotate", "crd", runners, "jacquard.dev/allow-delete=true")
	n.unable(func() { n.kubectl(t, "delete", "crd", runners) })
}

// reasoned says what is wrong if the conditions of a resource do not hold a text, or
// one of them is Stalled though it should not be, or the other way around.
func (n *realNode) reasoned(kind, in, name, text string, stalled bool) error {
	var o struct {
		Status struct{ Conditions []condition }
	}
	if err := n.get(&o, kind, "--namespace", in, name); err != nil {
		return err
	}
	var is bool
	var ready string
	for _, c := range o.Status.Conditions {
		is = is || c.Type == "Stalled" && c.Status == "True"
		if c.Type == "Ready" && c.Status == "False" {
			ready = c.Message
		}
	}
	if ready == "" || !strings.Contains(ready, text) || is != stalled {
		return fmt.Errorf("its conditions are %+v, and should hold %q, stalled: %v", o.Status.Conditions, text, stalled)
	}
	return nil
}

// tells says what is wrong if a command of jacquard that fails or not does not print a
// text after a name.
func (n *realNode) tells(name, text string, args ...string) error {
	out := n.tried(admin, "jacquard", args...)
	if _, after, found := strings.Cut(out, name); !found || !strings.Contains(after, text) {
		return fmt.Errorf("it prints no %q after %q:\n%s", text, name, out)
	}
	return nil
}
