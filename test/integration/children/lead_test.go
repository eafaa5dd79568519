package children

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestRestart: an operator that comes up over converged resources writes
// nothing.
func TestRestart(t *testing.T) {
	t.Parallel()
	k := newThing(t, "restart", with(plain(), map[string]string{"deployment.yaml": deployment}))
	first := k.run(t)
	k.apply(t, "a", "text: one, count: 2")
	k.apply(t, "b", "")
	k.ready(t, "a", "b")
	k.atRest(t, "a", "ConfigMap/a", "Deployment/a")
	first.Stop(t)
	mark := cluster.Mark(t)
	k.run(t)
	awaitReconciled(t, k.name(), 2)
	k.atRest(t, "a", "ConfigMap/a", "Deployment/a")
	k.atRest(t, "b", "ConfigMap/b", "Deployment/b")
	k.noWrites(t, mark)
	k.apply(t, "a", "text: two, count: 2")
	k.data(t, "a", "two")
}

// noWrites checks that nothing in the kind's namespace was written since mark.
func (k *thing) noWrites(t *testing.T, mark int64) {
	t.Helper()
	if writes := k.writes(t, mark); len(writes) != 0 {
		t.Errorf("writes: %v", writes)
	}
}

func (k *thing) writes(t *testing.T, mark int64) []kit.Request {
	t.Helper()
	return kit.Writes(k.requests(t, mark))
}

// requests are what operators sent about the kind's namespace since mark.
func (k *thing) requests(t *testing.T, mark int64) []kit.Request {
	t.Helper()
	return slices.DeleteFunc(cluster.Requests(t, mark), func(r kit.Request) bool { return r.Namespace != k.ns })
}

// awaitQuiet waits until no operator sends anything about the kind's namespace any more.
func (k *thing) awaitQuiet(t *testing.T) {
	t.Helper()
	mark := cluster.Mark(t)
	cluster.AwaitQuiet(t, func() (string, error) { return fmt.Sprint(k.requests(t, mark)), nil })
}

// TestLeaders: of two operators one works; when it is stopped it releases the
// Lease at once, the other takes over, and nothing is written twice.
func TestLeaders(t *testing.T) {
	t.Parallel()
	k := newThing(t, "leaders", plain())
	elect := func(o *controller.Options) {
		install(o)
		o.LeaderElectionNamespace = k.ns
	}
	first := cluster.Run(t, elect, k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	k.apply(t, "a", "")
	k.ready(t, "a")
	leader := k.holder(t)
	second := cluster.Run(t, elect, k.root)
	kit.Eventually(t, "the follower has loaded the folders", second.Ready)
	k.atRest(t, "a", "ConfigMap/a")

	mark := cluster.Mark(t)
	first.Stop(t)
	kit.Eventually(t, "the other takes over", func() error {
		if now := k.holder(t); now == leader || now == "" {
			return fmt.Errorf("the holder is %q", now)
		}
		return nil
	})
	k.apply(t, "b", "")
	k.ready(t, "a", "b")
	k.atRest(t, "a", "ConfigMap/a")
	if writes := k.writes(t, mark); len(writes) != 2 {
		t.Errorf("%v, want one create and one status", writes)
	}
}

// holder is who holds the Lease in the kind's namespace.
func (k *thing) holder(t *testing.T) string {
	t.Helper()
	for _, lease := range list(t, "coordination.k8s.io/v1", "Lease", k.ns) {
		holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
		return holder
	}
	return ""
}

// TestBrokenFollower: a follower whose folder does not load is not ready, so
// that a rolling update keeps the old leader.
func TestBrokenFollower(t *testing.T) {
	t.Parallel()
	k := newThing(t, "follower", plain())
	elect := func(o *controller.Options) {
		install(o)
		o.LeaderElectionNamespace, o.Identity = k.ns, "test/"+k.group
	}
	leader := cluster.Run(t, elect, k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	k.apply(t, "a", "")
	k.ready(t, "a")
	next := &thing{group: k.group, root: t.TempDir(), ns: k.ns}
	next.writeCRD(t)
	next.write(t, map[string]string{"map.yaml": broken})
	follower := cluster.Run(t, elect, next.root)
	kit.Eventually(t, "the follower has read its folder", func() error {
		err := follower.Ready()
		if err == nil {
			t.Fatal("the follower is ready")
		}
		if !strings.Contains(err.Error(), "map.yaml:4:") {
			return err
		}
		return nil
	})
	follower.AwaitQuiet(t)
	if follower.Ready() == nil {
		t.Error("the follower is ready")
	}
	if err := leader.Ready(); err != nil {
		t.Error(err)
	}
	next.write(t, plain())
	kit.Eventually(t, "the healed follower is ready", follower.Ready)
	k.atRest(t, "a", "ConfigMap/a")
}

// TestStop: stopping under load ends, and releases the Lease.
func TestStop(t *testing.T) {
	t.Parallel()
	k := newThing(t, "stop", plain())
	op := cluster.Run(t, func(o *controller.Options) {
		install(o)
		o.LeaderElectionNamespace = k.ns
	}, k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	for i := range 50 {
		k.apply(t, fmt.Sprint("a", i), "")
	}
	started, mark := time.Now(), cluster.Mark(t)
	op.Stop(t)
	stopped := time.Now()
	t.Logf("stopped in %s", stopped.Sub(started).Round(time.Millisecond))
	if holder := k.holder(t); holder != "" {
		t.Errorf("the Lease is held by %s", holder)
	}
	k.awaitQuiet(t)
	for _, r := range k.writes(t, mark) {
		if r.Received.After(stopped) { // what was under way by then may be logged later
			t.Errorf("sent after the end: %v", r)
		}
	}
}
