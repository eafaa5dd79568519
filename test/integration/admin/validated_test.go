package admin

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestLintRefuses: what lint finds in a child beyond the schemas is what the API
// server refuses.
func TestLintRefuses(t *testing.T) {
	t.Parallel()
	s := lay(t, nil)
	kit.Write(t, s.root, map[string]string{"crds/" + s.name() + ".yaml": s.fill(kit.WebCRD)})
	const (
		pod     = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: d, CHANGE}]}}"
		bare    = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{CHANGE}]}}"
		first   = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {initContainers: [{CHANGE}], containers: [{name: c, image: d}]}}"
		service = "{apiVersion: v1, kind: Service, metadata: {name: CHANGE}, spec: {ports: [{port: 80}]}}"
		ports   = "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{CHANGE, port: 80}]}}"
		space   = `{apiVersion: v1, kind: Namespace, metadata: {name: CHANGE, annotations: {jacquard.dev/on-delete: delete}}}`
		volume  = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, annotations: {jacquard.dev/on-delete: delete}}, " +
			"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: CHANGE}}}}"
		deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, " +
			"template: {metadata: {labels: {a: b}}, spec: {containers: [{CHANGE}]}}}}"
	)
	for child, changes := range map[string]struct{ refused, allowed []string }{
		bare:       {[]string{"name: c", `name: c, image: ""`, `name: "", image: d`, "name: C, image: d", "name: c.d, image: d"}, []string{"name: 1-c, image: d"}},
		first:      {[]string{"name: f", `name: f, image: ""`, "name: f_1, image: d"}, []string{"name: f, image: d"}},
		deployment: {[]string{"name: c", `name: c, image: ""`}, []string{"name: c, image: d"}},
		pod: {
			[]string{
				"resources: {requests: {cpu: -1}}", `resources: {limits: {memory: "-1Gi"}}`, "resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}",
				"ports: [{name: more-than-fifteen, containerPort: 80}]", `ports: [{name: "80", containerPort: 80}]`,
				"ports: [{name: a--b, containerPort: 80}]", "ports: [{name: Http, containerPort: 80}]",
			},
			[]string{
				"resources: {requests: {cpu: 0, memory: 1Gi}, limits: {memory: 1024Mi}}", `ports: [{name: "", containerPort: 80}]`,
				"ports: [{name: 8a, containerPort: 80}]",
			},
		},
		service: {[]string{"a.b", "A"}, []string{"a-1"}},
		ports:   {[]string{"name: Http", "name: a.b"}, []string{`name: ""`, "name: more-than-fifteen", `name: "80"`}},
		space:   {[]string{"a.b", "A"}, []string{"1-a"}},
		volume:  {[]string{"0", "-1Gi"}, []string{"1"}},
	} {
		for _, change := range changes.refused {
			s.lints(strings.Replace(child, "CHANGE", change, 1), true)
		}
		for _, change := range changes.allowed {
			s.lints(strings.Replace(child, "CHANGE", change, 1), false)
		}
	}
}

// lints checks that both the API server and lint refuse a child, or neither.
func (s *site) lints(child string, refuse bool) {
	s.Helper()
	s.write(map[string]string{"child.yaml": child + "\n"})
	var said bytes.Buffer
	cli.Main([]string{"lint", "--root", s.root}, strings.NewReader(""), &said, &said)
	if found := strings.Contains(said.String(), "^ invalid-child"); found != refuse {
		s.Errorf("%s: lint finds it: %v\n%s", child, found, said.String())
	}
	var object unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(child), &object.Object); err != nil {
		s.Fatal(err)
	}
	if object.GetKind() != "Namespace" {
		object.SetNamespace(s.namespace)
	}
	err := cluster.Client.Create(s.Context(), &object, client.DryRunAll)
	if (err != nil) != refuse {
		s.Errorf("%s: the API server says %v", child, err)
	}
}
