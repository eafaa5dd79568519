package children

import (
	"errors"
	"slices"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestAlone: of two processes of one installation one works, without leader
// election too: they do not undo what the other does.
func TestAlone(t *testing.T) {
	t.Parallel()
	k := newThing(t, "alone", plain())
	same := func(o *controller.Options) {
		install(o)
		o.LeaderElectionNamespace, o.Identity = k.ns, k.ns+"/jacquard"
	}
	first := cluster.Run(t, same, k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	k.apply(t, "a", "text: first")
	k.ready(t, "a")
	other := &thing{group: k.group, root: t.TempDir(), ns: k.ns}
	other.writeCRD(t)
	other.write(t, map[string]string{"map.yaml": config("", "second")})
	mark := cluster.Mark(t)
	second := cluster.Run(t, same, other.root)
	kit.Eventually(t, "the second process asks for the Lease", func() error {
		if !slices.ContainsFunc(second.AllRequests(t, mark), func(r kit.Request) bool { return r.Resource == "leases" }) {
			return errors.New("it has not")
		}
		return nil
	})
	second.AwaitQuiet(t)
	if writes := k.writes(t, mark); len(writes) > 0 {
		t.Errorf("two processes worked: %v", writes)
	}
	k.data(t, "a", "first")
	first.Stop(t)
	k.data(t, "a", "second")
}

// TestGivenUp: an operator on somebody's machine gives its claim up when it is
// told to end, and another installation, which has the same folder, serves the
// kind: it tries its folder like a changed one, and changes nothing.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	k := newThing(t, "givenup", plain())
	first := cluster.Run(t, func(o *controller.Options) {
		install(o)
		o.Local, o.LeaderElectionNamespace, o.Identity = true, k.ns, "jacquard"
	}, k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	k.apply(t, "a", "text: first")
	k.ready(t, "a")
	k.atRest(t, "a", "ConfigMap/a")
	first.Stop(t)
	crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.name())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{api.AnnotationOperator, api.AnnotationRolledOut} {
		if crd.GetAnnotations()[key] != "" {
			t.Errorf("%s is %q", key, crd.GetAnnotations()[key])
		}
	}
	mark := cluster.Mark(t)
	cluster.Run(t, func(o *controller.Options) { o.Identity = "test/" + k.group }, k.root)
	k.apply(t, "b", "text: second")
	k.ready(t, "a", "b")
	k.data(t, "b", "second")
	if writes := k.writes(t, mark); len(writes) != 2 {
		t.Errorf("%v, want one create and one status", writes)
	}
}
