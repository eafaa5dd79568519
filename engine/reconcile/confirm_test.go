package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// TestUnanswered: a write whose answer did not come is remembered until one
// does, whatever that says; what the server refused did not happen.
func TestUnanswered(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	for name, c := range map[string]struct {
		before, answer error
		want           int
	}{
		"carried out":                  {nil, nil, 0},
		"no connection":                {nil, errors.New("EOF"), 1},
		"timed out":                    {nil, apierrors.NewTimeoutError("late", 1), 1},
		"refused":                      {nil, apierrors.NewInvalid(schema.GroupKind{}, "a", nil), 0},
		"lost, then carried out":       {errors.New("EOF"), nil, 0},
		"lost, and lost again":         {errors.New("EOF"), errors.New("EOF"), 1},
		"lost, then forbidden, stays":  {errors.New("EOF"), apierrors.NewForbidden(maps, "a", errors.New("no rights")), 1},
		"lost, then invalid, stays":    {errors.New("EOF"), apierrors.NewInvalid(schema.GroupKind{}, "a", nil), 1},
		"lost, then it exists, stays":  {errors.New("EOF"), apierrors.NewAlreadyExists(maps, "a"), 1},
		"lost, then another was there": {errors.New("EOF"), apierrors.NewConflict(maps, "a", errors.New("uid")), 1},
	} {
		state := newMemory(&unstructured.Unstructured{})
		run := learner{&pass{r: &Reconciler{now: time.Now}, memory: state}}
		step := &plan.Step{Action: plan.Create, Document: &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap"}}}
		run.recordUnanswered(step, c.before)
		run.recordUnanswered(step, c.answer)
		if got := len(state.unanswered); got != c.want {
			t.Errorf("%s: %d writes are unanswered, want %d", name, got, c.want)
		}
	}
}

// takeOver lets another process, which has the same caches, take over from the one before.
func (w *world) takeOver() {
	r := New(things, thingKind, w.r.resources, w.r.cluster)
	r.now = w.r.now
	r.Follow(w.r.choose, w.r.served)
	r.TookOver(w.now)
	w.r = r
}

// TestConfirmCurrent: a process that takes over asks once whether its cache is as new as the last
// write of the process before, and only if it is about to change something. What was written
// after the take-over needs no second question. Its clock is years behind that of the API
// server.
func TestConfirmCurrent(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	w.settle()
	w.takeOver()
	w.names("y")
	w.sends("when it was edited", "list things default", "get things default/a", applyOne, applyStatus)
	w.names("z")
	w.now = w.now.Add(statusGap)
	w.sends("when it is edited again", applyOne, applyStatus)
	w.takeOver()
	w.names("x")
	w.r.collectionVersion = "1"
	w.sends("when it was edited after the take-over", applyOne, applyStatus)
	w.sends("at rest")
}

// TestInheritedChild: what the process before has created, and no watch shows yet, is found
// before the resource may go. A process that lists everything at its start asks nothing.
func TestInheritedChild(t *testing.T) {
	for name, c := range map[string]struct {
		takesOver bool
		left      int
	}{
		"a process that takes over": {true, 0}, "without a take-over": {false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"kind.yaml": nodes, "node.yaml": oneNode})
			w.late()
			w.turn()
			if c.takesOver {
				w.takeOver()
			} else {
				w.r.forgetResource(Key(w.resource))
			}
			w.server.Delete(w.server.Get(thingKind, "default", "a"))
			if again := w.requeue() == replanAfter; again != c.takesOver {
				t.Errorf("it begins anew after a list: %v, want %v", again, c.takesOver)
			}
			w.turn()
			w.turn()
			if got := len(w.server.All(nodeKind)); got != c.left {
				t.Errorf("%d nodes are left, want %d", got, c.left)
			}
			if o := w.server.Get(thingKind, "default", "a"); o != nil {
				t.Errorf("the resource stays, with %v", o.GetFinalizers())
			}
		})
	}
}

// TestArrivals: of a resource that another operator has served, a child counts as absent only
// once its kind was listed after the resource came; a list counts from when it was sent.
func TestArrivals(t *testing.T) {
	node := plan.List{GroupVersionKind: nodeKind}
	for name, c := range map[string]struct {
		tookOver, arrived, listed, unanswered uint64
		hasFinalizer                          bool
		doubtful                              int
	}{
		"always ours":                      {hasFinalizer: true},
		"it came":                          {hasFinalizer: true, arrived: 2, doubtful: 1},
		"it came, and was listed before":   {hasFinalizer: true, arrived: 2, listed: 1, doubtful: 1},
		"it came, and was listed after":    {hasFinalizer: true, arrived: 2, listed: 3},
		"taken over":                       {hasFinalizer: true, tookOver: 1, doubtful: 1},
		"taken over, and listed after":     {hasFinalizer: true, tookOver: 1, listed: 2},
		"taken over, and nothing to clean": {tookOver: 1},
		"no answer":                        {unanswered: 2, doubtful: 1},
		"no answer, and listed before":     {unanswered: 2, listed: 1, doubtful: 1},
		"no answer, and listed after":      {unanswered: 2, listed: 3},
	} {
		t.Run(name, func(t *testing.T) {
			resource := &unstructured.Unstructured{Object: map[string]any{}}
			if c.hasFinalizer {
				resource.SetFinalizers([]string{api.Finalizer})
			}
			r := New(things, thingKind, nil, Cluster{})
			r.listedAt[node] = c.listed
			m := newMemory(resource)
			m.setInheritance(resource, c.tookOver, c.arrived)
			if c.unanswered > 0 {
				m.unanswered[plan.Ref{Name: "node"}] = unansweredWrite{node, c.unanswered}
			}
			version := &observe.Version{Children: map[schema.GroupVersionKind]live.Need{nodeKind: live.Metadata}}
			got := confirmer{&pass{r: r, memory: m, subject: &observe.Subject{Version: version}}}.doubtfulLists()
			if len(got) != c.doubtful {
				t.Errorf("doubtful are %v, want %d", got, c.doubtful)
			}
		})
	}
}

// TestClockSetBack: what was before and what after does not depend on the clock.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t, map[string]string{"kind.yaml": nodes, "node.yaml": oneNode})
	w.settle()
	w.takeOver()
	w.now = w.now.Add(-10 * time.Minute)
	w.server.Delete(w.server.Get(thingKind, "default", "a"))
	w.turn()
	w.turn()
	if n, o := len(w.server.All(nodeKind)), w.server.Get(thingKind, "default", "a"); n > 0 || o != nil {
		t.Errorf("%d nodes are left, and of the resource %v", n, o)
	}
}

// TestUnsentTakeBack: fields count as taken back only if the write was sent.
func TestUnsentTakeBack(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	w.settle()
	w.folder(map[string]string{"kind.yaml": nodes, "one.yaml": oneMap, "node.yaml": oneNode})
	w.server.Refuse = refusing(answered(403, metav1.StatusReasonForbidden, "no rights"), patchThing)
	w.turn()
	w.server.Change(w.server.Get(mapKind, "default", "one"), "autoscaler", func(o *unstructured.Unstructured) {
		o.Object["data"] = map[string]any{"name": "theirs"}
	})
	for range 2 * 4 {
		w.now = w.now.Add(w.requeue())
	}
	w.says("while nothing may be written", api.ReasonRecordFailed)
	w.server.Refuse = nil
	w.turn()
	if got := w.server.Get(mapKind, "default", "one").Object["data"].(map[string]any)["name"]; got != "x" {
		t.Errorf("once it may be written, the field is %v", got)
	}
}

// TestApprovalsAskedAtExecution: a rollout counts the deletions that it is asked for, so that it
// is asked only before they are sent.
func TestApprovalsAskedAtExecution(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world)
		want   int
	}{
		"it is executed":            {func(*world) {}, 1},
		"the operator is read-only": {func(w *world) { w.r.cluster.ReadOnly = true }, 0},
		"the resource is stale": {func(w *world) {
			w.takeOver()
			w.r.resources = staleResource{resources{w: w}}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"one.yaml": oneMap, "two.yaml": twoMap})
			w.settle()
			w.folder(map[string]string{"one.yaml": oneMap})
			asked := 0
			w.choice.MayDelete = func(schema.GroupKind, metav1.Object) error {
				asked++
				return errors.New("not yet")
			}
			c.change(w)
			w.turn()
			if asked != c.want {
				t.Errorf("it is asked %d times, want %d", asked, c.want)
			}
		})
	}
}

// A staleResource is a cache that shows an earlier state of the thing.
type staleResource struct{ resources }

func (r staleResource) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	err := r.resources.Get(ctx, key, into, opts...)
	into.SetLabels(map[string]string{"was": "before"})
	into.SetResourceVersion("1")
	return err
}
