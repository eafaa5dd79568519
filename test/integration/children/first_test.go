package children

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestChangedFirst: what changed and what came while no operator ran is served
// before everything else, for which there is something to do too, but nothing
// that its status tells.
func TestChangedFirst(t *testing.T) {
	t.Parallel()
	k := newThing(t, "first", plain())
	op := k.run(t)
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("a%02d", i))
		k.apply(t, names[i], "")
	}
	k.ready(t, names...)
	op.Stop(t)
	for _, name := range names {
		cluster.Delete(t, "v1", "ConfigMap", k.ns, name)
	}
	k.apply(t, "a17", "text: changed")
	k.apply(t, "new", "")
	mark := cluster.Mark(t)
	cluster.Run(t, func(o *controller.Options) { o.Workers = 1 }, k.root)
	for _, name := range names {
		if name != "a17" {
			k.data(t, name, "hello")
		}
	}
	var order []string
	for _, r := range kit.Writes(cluster.Requests(t, mark)) {
		if r.Namespace == k.ns && r.Resource == "configmaps" {
			order = append(order, r.Name)
		}
	}
	if len(order) != 41 {
		t.Fatalf("written: %v", order)
	}
	slices.Sort(order[:2])
	if !slices.Equal(order[:2], []string{"a17", "new"}) {
		t.Errorf("the order was %v", order)
	}
}

// TestEndedAtOnce: an operator that is told to end while it installs CRDs ends
// without an error.
func TestEndedAtOnce(t *testing.T) {
	t.Parallel()
	k := newThing(t, "ended", plain())
	op, err := controller.New(controller.Options{Config: cluster.Config, Roots: []*folder.Root{folder.FromDir(k.root)}, InstallCRDs: true})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := op.Run(ended); err != nil {
		t.Error(err)
	}
}
