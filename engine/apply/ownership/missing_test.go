package ownership_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

// containers is the path of a Deployment's containers.
var containers = []string{"spec", "template", "spec", "containers"}

func TestMissing(t *testing.T) {
	tests := map[string]struct {
		doc    string
		change func(server)
		want   []string
	}{
		"Deployment as applied":     {doc: deploymentText},
		"Service as applied":        {doc: serviceText},
		"ConfigMap as applied":      {doc: configMapText},
		"RoleBinding as applied":    {doc: bindingText},
		"Role as applied":           {doc: roleText},
		"ServiceAccount as applied": {doc: accountText},
		"custom kind as applied":    {doc: releaseText},
		"another's replicas": {deploymentText,
			byThem(set(int64(5), "spec", "replicas")), []string{"spec.replicas"}},
		"the same value by another": {deploymentText, byThem(set(int64(2), "spec", "replicas")), nil},
		"the same value applied by another": {deploymentText, func(s server) {
			s.apply(read(s.t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2}}`), them)
		}, nil},
		"another value applied by another with force": {deploymentText, func(s server) {
			s.apply(read(s.t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3}}`), them)
		}, []string{"spec.replicas"}},
		"another's own label": {deploymentText, byThem(set("x", "metadata", "labels", "theirs")), nil},
		"our label changed":   {deploymentText, byThem(set("x", "metadata", "labels", "app")), []string{"metadata.labels.app"}},
		"our label taken away": {deploymentText, byThem(drop("metadata", "labels", "jacquard.dev/owner-uid")),
			[]string{`metadata.labels["jacquard.dev/owner-uid"]`}},
		"all labels taken away": {deploymentText, byThem(drop("metadata", "labels")),
			[]string{"metadata.labels.app", `metadata.labels["jacquard.dev/owner-uid"]`}},
		"owner references dropped": {deploymentText, byThem(drop("metadata", "ownerReferences")), []string{"metadata.ownerReferences"}},
		"an env value changed": {deploymentText, byThem(func(m map[string]any) {
			item(item(m, "name", "web", containers...), "name", "A", "env")["value"] = "2"
		}), []string{"spec.template.spec.containers[name=web].env[name=A].value"}},
		"an argument added": {deploymentText, byThem(func(m map[string]any) {
			item(m, "name", "web", containers...)["args"] = []any{"serve", "--port=81"}
		}), []string{"spec.template.spec.containers[name=web].args"}},
		"a container added": {deploymentText, byThem(func(m map[string]any) {
			l := at(m, containers...).([]any)
			at(m, "spec", "template", "spec").(map[string]any)["containers"] = append(l, map[string]any{"name": "more", "image": "x"})
		}), nil},
		"a container removed": {deploymentText, byThem(func(m map[string]any) {
			at(m, "spec", "template", "spec").(map[string]any)["containers"] = at(m, containers...).([]any)[:1]
		}), []string{"spec.template.spec.containers[name=side].image", "spec.template.spec.containers[name=side].name"}},
		"the port without protocol removed, its UDP twin left": {deploymentText, byThem(func(m map[string]any) {
			web := item(m, "name", "web", containers...)
			web["ports"] = web["ports"].([]any)[1:]
		}), []string{"spec.template.spec.containers[name=web].ports[containerPort=80].containerPort"}},
		"a volume of another type": {deploymentText, byThem(func(m map[string]any) {
			v := item(m, "name", "tmp", "spec", "template", "spec", "volumes")
			delete(v, "emptyDir")
			v["hostPath"] = map[string]any{"path": "/"}
		}), []string{"spec.template.spec.volumes[name=tmp].emptyDir"}},
		"an atomic selector changed": {serviceText, byThem(set("x", "spec", "selector", "app")), []string{"spec.selector.app"}},
		"a port's target changed": {serviceText, byThem(func(m map[string]any) {
			at(m, "spec", "ports").([]any)[0].(map[string]any)["targetPort"] = "other"
		}), []string{"spec.ports[port=80,protocol=TCP].targetPort"}},
		"labels where we said none": {serviceText, byThem(set("x", "metadata", "labels", "theirs")), nil},
		"our finalizer taken away":  {configMapText, byThem(drop("metadata", "finalizers")), []string{"metadata.finalizers"}},
		"our finalizer replaced": {configMapText, byThem(set([]any{"example.com/b"}, "metadata", "finalizers")),
			[]string{"metadata.finalizers"}},
		"another finalizer":     {configMapText, byThem(set([]any{"example.com/a", "example.com/b"}, "metadata", "finalizers")), nil},
		"a key of data changed": {configMapText, byThem(set("x", "data", "b.yaml")), []string{`data["b.yaml"]`}},
		"a subject where we said none": {bindingText, byThem(set([]any{map[string]any{"kind": "User", "name": "x"}}, "subjects")),
			[]string{"subjects"}},
		"rules changed": {roleText, byThem(set([]any{}, "rules")), []string{"rules"}},
		"pull secret added": {accountText, byThem(set([]any{map[string]any{"name": "pull"}, map[string]any{"name": "x"}}, "imagePullSecrets")),
			[]string{"imagePullSecrets"}},
		"the only key of a free map changed": {releaseText,
			byThem(set(int64(4), "spec", "values", "one", "two", "three")), []string{"spec.values.one.two.three"}},
		"a free list changed": {releaseText, byThem(set([]any{int64(1)}, "spec", "values", "list")), []string{"spec.values.list"}},
		"more in a free map":  {releaseText, byThem(set(int64(4), "spec", "values", "one", "two", "four")), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			doc := read(t, test.doc)
			s := serve(t, doc)
			s.apply(doc, us)
			if test.change != nil {
				test.change(s)
			}
			if diff := cmp.Diff(test.want, s.ours().Missing(doc)); diff != "" {
				t.Errorf("Missing (-want +got):\n%s\nin %s", diff, s.ManagedFields())
			}
			if got := s.ours().Extra(doc); got != nil {
				t.Errorf("Extra: got %q, want none", got)
			}
		})
	}
}

func byThem(change func(map[string]any)) func(server) {
	return func(s server) { s.update(them, change) }
}

func at(m map[string]any, path ...string) any {
	var v any = m
	for _, p := range path {
		v = v.(map[string]any)[p]
	}
	return v
}

// TestMissingSkipsWhatNobodyOwns: preconditions and the object's name are in the document, never in the entry.
func TestMissingSkipsWhatNobodyOwns(t *testing.T) {
	doc := read(t, configMapText)
	s := serve(t, doc)
	s.apply(doc, us)
	set("1", "metadata", "resourceVersion")(doc)
	set("u", "metadata", "uid")(doc)
	if got := s.ours().Missing(doc); got != nil {
		t.Errorf("Missing: got %q, want none", got)
	}
}

func TestExtra(t *testing.T) {
	tests := map[string]struct {
		doc    string
		change func(map[string]any)
		want   []string
	}{
		"a label": {deploymentText, drop("metadata", "labels", "app"), []string{"metadata.labels.app"}},
		"a container": {deploymentText, func(m map[string]any) {
			at(m, "spec", "template", "spec").(map[string]any)["containers"] = at(m, containers...).([]any)[:1]
		}, []string{"spec.template.spec.containers[name=side].image", "spec.template.spec.containers[name=side].name"}},
		"the UDP port of two": {serviceText, func(m map[string]any) {
			at(m, "spec").(map[string]any)["ports"] = at(m, "spec", "ports").([]any)[:1]
		}, []string{
			"spec.ports[port=80,protocol=UDP].name", "spec.ports[port=80,protocol=UDP].port",
			"spec.ports[port=80,protocol=UDP].protocol",
		}},
		"a finalizer":     {configMapText, drop("metadata", "finalizers"), []string{"metadata.finalizers[]"}},
		"an atomic field": {roleText, drop("rules"), []string{"rules"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			doc := read(t, test.doc)
			s := serve(t, doc)
			s.apply(doc, us)
			test.change(doc)
			if diff := cmp.Diff(test.want, s.ours().Extra(doc)); diff != "" {
				t.Errorf("Extra (-want +got):\n%s", diff)
			}
			s.apply(doc, us)
			if got := s.ours().Extra(doc); got != nil {
				t.Errorf("Extra after the apply: got %q, want none", got)
			}
		})
	}
}

// TestWrittenByIsIgnored: the revision that wrote an object is no reason to write it, whether
// the document has the annotation or not. The annotations beside it count.
func TestWrittenByIsIgnored(t *testing.T) {
	const writtenBy = "jacquard.dev/written-by"
	without, with := read(t, deploymentText), read(t, deploymentText)
	set("1-aa", "metadata", "annotations", writtenBy)(with)
	s := serve(t, with)
	s.apply(with, us)
	if got := s.ours().Extra(without); got != nil {
		t.Errorf("Extra: got %q, want none", got)
	}
	live := s.Live().(*unstructured.Unstructured).Object
	for name, documents := range map[string][2]map[string]any{"it is live": {without, live}, "it is rendered": {with, without}} {
		if got := ownership.Differences(documents[0], documents[1]); got != nil {
			t.Errorf("Differences where %s: got %v, want none", name, got)
		}
	}
	s.update(them, set("2-bb", "metadata", "annotations", writtenBy))
	if got := s.ours().Missing(with); got != nil {
		t.Errorf("Missing after another's change: got %q, want none", got)
	}
	drop("metadata", "annotations", "jacquard.dev/desired")(without)
	if diff := cmp.Diff([]string{`metadata.annotations["jacquard.dev/desired"]`}, s.ours().Extra(without)); diff != "" {
		t.Errorf("Extra of the annotation beside it (-want +got):\n%s", diff)
	}
}

func BenchmarkMissing(b *testing.B) {
	doc := read(b, deploymentText)
	s := serve(b, doc)
	s.apply(doc, us)
	e := s.ours()
	for b.Loop() {
		if e.Missing(doc) != nil {
			b.Fatal("something is missing")
		}
	}
}

func BenchmarkOurs(b *testing.B) {
	doc := read(b, deploymentText)
	s := serve(b, doc)
	s.apply(doc, us)
	s.update(them, set(int64(3), "spec", "minReadySeconds"))
	managed := s.ManagedFields()
	for b.Loop() {
		if _, ok, err := ownership.Ours(managed, us); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// TestMissingOfDefaultedKeys: a custom kind's list by name and zone, where zone has a default: the item
// that was taken away is not taken for its neighbour.
func TestMissingOfDefaultedKeys(t *testing.T) {
	doc := read(t, `{apiVersion: example.com/v1, kind: A, spec: {sites: [{name: x, size: 1}, {name: x, zone: b, size: 2}]}}`)
	both := `{"f:spec":{"f:sites":{"k:{\"name\":\"x\",\"zone\":\"a\"}":{".":{},"f:name":{},"f:size":{}},"k:{\"name\":\"x\",\"zone\":\"b\"}":{".":{},"f:name":{},"f:size":{},"f:zone":{}}}}}`
	one := `{"f:spec":{"f:sites":{"k:{\"name\":\"x\",\"zone\":\"b\"}":{".":{},"f:name":{},"f:size":{},"f:zone":{}}}}}`
	for fields, want := range map[string][]string{
		both: nil, one: {"spec.sites[name=x].name", "spec.sites[name=x].size"},
	} {
		e, _, err := ownership.Ours([]metav1.ManagedFieldsEntry{entry(us, "Apply", "", fields)}, us)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, e.Missing(doc)); diff != "" {
			t.Errorf("Missing of %s (-want +got):\n%s", fields, diff)
		}
	}
}
