package reconcile

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
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
	at := time.Unix(1e9, 0)
	node := plan.List{GroupVersionKind: nodeKind}
	for name, c := range map[string]struct {
		leadsSince, arrived, listed, unanswered time.Time
		hasFinalizer                            bool
		doubtful                                int
	}{
		"always ours":                        {hasFinalizer: true},
		"it came":                            {hasFinalizer: true, arrived: at, doubtful: 1},
		"it came, and was listed before":     {hasFinalizer: true, arrived: at, listed: at.Add(-1), doubtful: 1},
		"it came, and was listed after":      {hasFinalizer: true, arrived: at, listed: at.Add(1)},
		"taken over":                         {hasFinalizer: true, leadsSince: at, doubtful: 1},
		"taken over, and listed after":       {hasFinalizer: true, leadsSince: at, listed: at},
		"taken over, and nothing to clean":   {leadsSince: at},
		"no answer":                          {unanswered: at, doubtful: 1},
		"no answer, and listed at that time": {unanswered: at, listed: at, doubtful: 1},
		"no answer, and listed after":        {unanswered: at, listed: at.Add(1)},
	} {
		t.Run(name, func(t *testing.T) {
			resource := &unstructured.Unstructured{Object: map[string]any{}}
			if c.hasFinalizer {
				resource.SetFinalizers([]string{api.Finalizer})
			}
			r := New(things, thingKind, nil, Cluster{})
			r.listedAt[node] = c.listed
			m := newMemory(resource)
			m.setInheritance(resource, c.leadsSince, c.arrived)
			if !c.unanswered.IsZero() {
				m.unanswered[plan.Ref{Name: "node"}] = unansweredWrite{node, c.unanswered}
			}
			version := &Version{Children: map[schema.GroupVersionKind]live.Need{nodeKind: live.Metadata}}
			got := confirmer{&pass{r: r, memory: m, subject: &subject{version: version}}}.doubtfulLists()
			if len(got) != c.doubtful {
				t.Errorf("doubtful are %v, want %d", got, c.doubtful)
			}
		})
	}
}
