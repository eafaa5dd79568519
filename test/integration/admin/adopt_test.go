package admin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// adoptable renders a Deployment, a Service, a Secret with a text that is drawn, and
// what depends on this text.
var adoptable = map[string]string{
	"server.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .metadata.name }}
spec:
  replicas: 0
  selector:
    matchLabels: {app: {{ .metadata.name }}}
  template:
    metadata:
      labels: {app: {{ .metadata.name }}}
    spec:
      containers:
      - name: web
        image: {{ .spec.text }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .metadata.name }}
spec:
  selector: {app: {{ .metadata.name }}}
  ports:
  - port: 80
`,
	"secret.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: {{ .metadata.name }}
stringData:
  password: {{ stable "secret" "password" 12 }}
`,
	"map.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
  annotations:
    checksum: {{ stable "secret" "password" 12 | sha256sum }}
data:
  text: {{ .spec.text }}
`,
}

// uids are the uids of a resource's children, by kind.
func (s *site) uids(name string) map[string]string {
	s.Helper()
	all := map[string]string{}
	for _, kind := range []string{"apps/v1 Deployment", "v1 Service", "v1 Secret", "v1 ConfigMap"} {
		version, kind, _ := strings.Cut(kind, " ")
		o, err := cluster.Get(version, kind, s.namespace, name)
		if err != nil {
			s.Fatal(err)
		}
		all[kind] = string(o.GetUID())
	}
	return all
}

// TestAdoptAfterEject: what was ejected is the resource's again, with the drawn text
// and the uids that it had, once adopt has proved that it is what the folder renders.
func TestAdoptAfterEject(t *testing.T) {
	t.Parallel()
	s := lay(t, adoptable)
	s.web("a", "text: one")
	s.start(nil)
	s.is("a", "Ready", "True", "")
	s.operator.Stop(t)
	before := s.uids("a")
	secret, err := cluster.Get("v1", "Secret", s.namespace, "a")
	if err != nil {
		t.Fatal(err)
	}
	if a := s.as("admin", "eject", s.name(), "--yes"); a.code != 0 {
		t.Fatalf("exit %d: %s", a.code, a.all())
	}
	s.start(nil)
	s.is("a", "Stalled", "True", "OwnedByOthers")
	adopt, bare := []string{"adopt", s.name(), "--all", "--root", s.root}, s.traces()
	if a := s.as("admin", adopt...); a.code != 1 || !strings.Contains(a.stdout, "can be adopted: 3, stay as they are: 1, missing: 0") ||
		strings.Contains(a.stdout, secret.Object["data"].(map[string]any)["password"].(string)) {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	if traces := s.traces(); !slices.Equal(traces, bare) {
		t.Errorf("without --yes it wrote to what is not among %v: %v", bare, traces)
	}
	if a := s.as("admin", append(adopt, "--yes")...); a.code != 0 || !strings.Contains(a.stdout, "adopted: 4, stay as they are: 0, missing: 0") {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
	s.is("a", "Ready", "True", "")
	if now := s.uids("a"); fmt.Sprint(now) != fmt.Sprint(before) {
		t.Errorf("the children are %v, were %v", now, before)
	}
	now, err := cluster.Get("v1", "Secret", s.namespace, "a")
	if err != nil || fmt.Sprint(now.Object["data"]) != fmt.Sprint(secret.Object["data"]) {
		t.Errorf("the Secret changed, or %v", err)
	}
	if a := s.as("admin", adopt...); a.code != 0 || !strings.Contains(a.stdout, "can be adopted: 0, stay as they are: 0, missing: 0") {
		t.Errorf("again: exit %d: %s", a.code, a.all())
	}
}

// TestAdoptProves: what differs, and what somebody controls, stays as it is; a paused
// resource is looked at before anything is created. What the folder no longer renders
// goes afterwards, although another tool made it.
func TestAdoptProves(t *testing.T) {
	t.Parallel()
	s := lay(t, map[string]string{"maps.yaml": `{{- range $name, $text := .spec.data }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $name }}
data: {{ $text | fromYaml }}
{{- end }}
`})
	apply := func(name, text string) {
		cluster.Apply(t, s.namespace, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {%s}}", name, text))
	}
	apply("equal", "a: x, b: x")
	apply("differs", "a: z")
	apply("controlled", "a: x")
	secret := kit.Parse(t, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: %s}}", s.namespace))[0]
	if err := cluster.Client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	controlled, err := cluster.Get("v1", "ConfigMap", s.namespace, "controlled")
	if err != nil {
		t.Fatal(err)
	}
	controlled.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(secret, secret.GroupVersionKind())})
	if err := cluster.Client.Update(t.Context(), controlled); err != nil {
		t.Fatal(err)
	}
	s.web("a", `data: {equal: "{a: x, b: x}", differs: "{a: x}", controlled: "{a: x}", new: "{a: x}"}`)
	pause := func(value string) {
		web, err := cluster.Get(s.group+"/v1", "Web", s.namespace, "a")
		if err == nil {
			err = cluster.Client.Patch(t.Context(), web, client.RawPatch(types.MergePatchType,
				fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, api.AnnotationPaused, value)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	pause(`"true"`)
	s.start(nil)
	s.is("a", "Paused", "True", "")
	a := s.as("admin", "adopt", s.name()+"/"+s.namespace+"/a", "--yes", "--root", s.root)
	for _, text := range []string{
		"adopted        ConfigMap " + s.namespace + "/equal  ", "-  a: z\n", "+  a: x\n",
		"it belongs to Secret other", "is missing     ConfigMap " + s.namespace + "/new",
		"adopted: 1, stay as they are: 2, missing: 1",
	} {
		if a.code != 1 || !strings.Contains(a.stdout, text) {
			t.Errorf("exit %d, without %q: %s", a.code, text, a.all())
		}
	}
	pause(`null`)
	s.is("a", "Stalled", "True", "OwnedByOthers")
	s.web("a", `data: {equal: "{a: x}"}`)
	s.is("a", "Ready", "True", "")
	kit.Eventually(t, "a key that the folder no longer renders goes", func() error {
		o, err := cluster.Get("v1", "ConfigMap", s.namespace, "equal")
		if text, _, _ := unstructured.NestedStringMap(o.Object, "data"); err == nil && len(text) != 1 {
			err = fmt.Errorf("the data are %v, of %v", text, o.GetManagedFields())
		}
		return err
	})
}
