package replicas

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestRollsOut: while a folder rolls out, one replica serves the kind: it stops for all,
// also when another one has taken its place, and what it had not reached stays as it is.
// When it goes on, each resource is written once, and then the kind is divided again.
func TestRollsOut(t *testing.T) {
	t.Parallel()
	// The first wave is of the first three in a namespace, which has four: the last two
	// resources of all are not among them.
	const group, n = "rolls.example.com", 40
	name := "things." + group
	child := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'%s}\ndata: {text: '{{ .spec.text }}', version: %s}\n"
	file := "templates/" + name + "/one.yaml"
	f := newFleet(t, cluster, map[string]string{
		"crds/" + name + ".yaml":           kit.ThingCRD(group),
		file:                               fmt.Sprintf(child, "", "one"),
		"templates/" + name + "/kind.yaml": "rollout: {waves: [{size: '3'}, {size: '50%'}], progressDeadline: 10m}\n",
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	cluster.Served(t, group+"/v1", "Thing")
	var spaces []string
	for range 10 {
		spaces = append(spaces, cluster.Namespace(t))
	}
	edit := func(i int, text string) {
		cluster.Apply(t, spaces[i%len(spaces)], fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%02d}, spec: {text: %q}}",
			group, i, text))
	}
	for i := range n {
		edit(i, "first")
	}
	for range 3 {
		f.start()
	}
	f.awaitDivided(3)
	f.allReady(group+"/v1", "Thing", n)

	mark := cluster.Mark(t)
	kit.Write(t, f.root, map[string]string{file: fmt.Sprintf(child, ", labels: {bad: '-no-'}", "two")})
	stopped := func() error {
		crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)
		if err != nil {
			return err
		}
		if r := rollout.ParseRecord(crd.GetAnnotations()[api.AnnotationRollout]); r.State != rollout.Stopped {
			return fmt.Errorf("the rollout is %q", r.State)
		}
		return nil
	}
	kit.Eventually(t, "the rollout stops", stopped)
	d, err := f.division()
	if err != nil || len(d.Exclusive) != 1 || len(d.Exclusive[name]) != 0 {
		t.Errorf("the leader does not serve the whole kind: %v, %v", d, err)
	}
	edit(n-1, "edited")
	kit.Eventually(t, "an edit is served by the version before", func() error { return f.says(spaces[(n-1)%len(spaces)], n-1, "edited", "one") })
	leader := slices.IndexFunc(f.replicas, func(r *replica) bool { return r.leads(d.Leader) })
	if leader < 0 {
		t.Fatalf("no replica has the Lease %s", d.Leader)
	}
	f.killReplica(f.replicas[leader])
	kit.Eventually(t, "another replica leads", func() error {
		now, err := f.division()
		if err == nil && (now.Leader == "" || now.Leader == d.Leader) {
			err = fmt.Errorf("the leader is %q", now.Leader)
		}
		return err
	})
	edit(n-2, "edited")
	kit.Eventually(t, "an edit is served by the version before", func() error { return f.says(spaces[(n-2)%len(spaces)], n-2, "edited", "one") })
	if err := stopped(); err != nil {
		t.Error(err)
	}
	for i := range n - 2 {
		if err := f.says(spaces[i%len(spaces)], i, "first", "one"); err != nil {
			t.Error(err)
		}
	}

	kit.Write(t, f.root, map[string]string{file: fmt.Sprintf(child, "", "three")})
	for i := range n {
		text := "first"
		if i >= n-2 {
			text = "edited"
		}
		kit.Eventually(t, "the third version is there", func() error { return f.says(spaces[i%len(spaces)], i, text, "three") })
	}
	f.awaitDivided(2)
	f.allReady(group+"/v1", "Thing", n)
	answered := slices.DeleteFunc(f.writes(mark, "configmaps"), func(r kit.Request) bool { return r.Code >= 400 })
	if len(answered) != n+2 {
		t.Errorf("%d writes of ConfigMaps, want %d for the third version and 2 for edits", len(answered), n)
	}
	edit(0, "again")
	kit.Eventually(t, "the kind is served again", func() error { return f.says(spaces[0], 0, "again", "three") })
}

// says says what a child does not say.
func (f *fleet) says(namespace string, i int, text, version string) error {
	o, err := f.cluster.Get("v1", "ConfigMap", namespace, fmt.Sprintf("thing-%02d", i))
	if err != nil {
		return err
	}
	data, _ := o.Object["data"].(map[string]any)
	if data["text"] != text || data["version"] != version {
		return fmt.Errorf("thing-%02d says %v, want %s of version %s", i, data, text, version)
	}
	return nil
}

// leads reports whether a replica has that Lease, by its log.
func (r *replica) leads(lease string) bool {
	return strings.Contains(r.log.String(), fmt.Sprintf(`"as":%q`, lease))
}
