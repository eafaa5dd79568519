package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/live"
)

func packed(t *testing.T, namespace, version string) *live.Packed {
	t.Helper()
	o, err := live.Pack(fmt.Appendf(nil, `{"metadata": {"namespace": %q, "name": "one", "uid": %q, "resourceVersion": %q}}`,
		namespace, "uid-"+namespace, version))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A recorder is a follower that notes what it is told.
type recorder struct {
	mu   sync.Mutex
	told []string
}

func (r *recorder) note(what string, o any) {
	if gone, is := o.(cache.DeletedFinalStateUnknown); is {
		o = gone.Obj
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, what+" "+o.(*live.Packed).Namespace)
}

func (r *recorder) OnAdd(o any, initial bool) { r.note(fmt.Sprintf("add (%v)", initial), o) }
func (r *recorder) OnUpdate(_, o any)         { r.note("update", o) }
func (r *recorder) OnDelete(o any)            { r.note("delete", o) }

// take returns what was told, in order of its text.
func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := slices.Sorted(slices.Values(r.told))
	r.told = nil
	return strings.Join(told, ", ")
}

// TestPortionTellsDifferences: a follower is told of what is known, and then of what
// changes: a list that says the same tells nothing, and what is not selected is not there.
func TestPortionTellsDifferences(t *testing.T) {
	p, follows := &portion{told: func() {}, listed: func() {}}, &recorder{}
	all := selecting{p, everything()}
	step := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(want, follows.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	list := func(s selecting, objects ...any) {
		if err := s.Replace(objects, "9"); err != nil {
			t.Fatal(err)
		}
	}
	list(all, packed(t, "a", "1"), packed(t, "b", "1"))
	p.setFollower(follows)
	step("a follower comes", "add (true) a, add (true) b")
	list(all, packed(t, "a", "1"), packed(t, "b", "1"))
	step("the same list", "")
	list(all, packed(t, "a", "2"), packed(t, "c", "1"))
	step("another list", "add (false) c, delete b, update a")
	some := selecting{p, choice{Part: half()}}
	list(some, packed(t, "0 namespace", "1"), packed(t, "a", "2"))
	step("less is selected", want(some, "delete c", "add (false) 0 namespace", "delete a"))
	if err := some.Add(packed(t, "b", "1")); err != nil {
		t.Fatal(err)
	}
	if some.of.Has("uid-b") {
		step("an event", "add (false) b")
	} else {
		step("an event of what is not selected", "")
	}
	small, err := some.Transformer()(packed(t, "b", "1"))
	if err != nil || some.of.Has("uid-b") == (small.(*live.Packed).JSON == nil) {
		t.Errorf("of what is not selected %v is kept while a list streams in (%v)", small, err)
	}
}

// want is what is told when the list has "0 namespace" and "a" of these.
func want(s selecting, always, zero, a string) string {
	told := []string{always}
	if s.of.Has("uid-0 namespace") {
		told = append(told, zero)
	}
	if !s.of.Has("uid-a") {
		told = append(told, a)
	}
	return strings.Join(slices.Sorted(slices.Values(told)), ", ")
}

func everything() choice { return choice{Part: replicas.Everything} }

// half is the first of two buckets.
func half() replicas.Part {
	d := replicas.New(2)
	d.Owners[0] = "a"
	return d.ShareOf("a").Part("")
}

// TestPortionChooses: what is wanted may change while a watch runs; the list before it
// stays until what is wanted now has been listed.
func TestPortionChooses(t *testing.T) {
	asked := make(chan struct{}, 10)
	lists := make(chan []*live.Packed)
	p := &portion{told: func() {}, listed: func() {}, wanted: everything(), source: func() cache.ListerWatcher {
		return &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
				asked <- struct{}{}
				list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
				select {
				case objects := <-lists:
					for _, o := range objects {
						list.Items = append(list.Items, runtime.RawExtension{Object: o})
					}
				case <-ctx.Done():
				}
				return list, ctx.Err()
			},
			WatchFuncWithContext: func(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
				if opts.SendInitialEvents != nil {
					return nil, fmt.Errorf("lists are not streamed")
				}
				return watch.NewFake(), nil
			},
		}
	}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); portions{p}.runAll(ctx) }()
	<-asked
	lists <- []*live.Packed{packed(t, "a", "1"), packed(t, "0 namespace", "1")}
	eventually(t, portions{p}.haveWanted)
	portions{p}.setWanted(choice{Part: half()})
	<-asked
	if (portions{p}).haveWanted() || len(p.listKnown()) != 2 {
		t.Errorf("before the list %v is known", p.listKnown())
	}
	lists <- []*live.Packed{packed(t, "a", "1"), packed(t, "0 namespace", "1")}
	eventually(t, portions{p}.haveWanted)
	for _, o := range p.listKnown() {
		if !half().Has(o.UID) {
			t.Errorf("%s is known, and is not wanted", o.Namespace)
		}
	}
	portions{p}.setWanted(choice{half(), 1})
	if (portions{p}).haveWanted() {
		t.Error("what was not to be known in between is not listed again")
	}
	<-asked
	lists <- nil
	eventually(t, portions{p}.haveWanted)
	portions{p}.setWanted(choice{})
	eventually(t, portions{p}.haveWanted)
	if len(p.listKnown()) != 0 {
		t.Errorf("nothing is wanted, and %v is known", p.listKnown())
	}
	stop()
	<-ended
}

// TestPortionReportsMissingRightsOnce: where the right to watch is missing, or that to
// list too, this is reported once and stays, though lists come in, or are refused with
// another text.
func TestPortionReportsMissingRightsOnce(t *testing.T) {
	forbidden := func(verb string) error {
		return apierrors.NewForbidden(apischema.GroupResource{Resource: "webs"}, "", fmt.Errorf("it cannot %s them", verb))
	}
	for name, ofList := range map[string]error{"to watch": nil, "to list and watch": forbidden("list")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var isAllowed atomic.Bool
				var told atomic.Int64
				p := &portion{told: func() { told.Add(1) }, listed: func() {}, wanted: everything(), source: func() cache.ListerWatcher {
					return &cache.ListWatch{
						ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
							if ofList != nil && !isAllowed.Load() {
								return nil, ofList
							}
							return &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
						},
						WatchFuncWithContext: func(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
							switch {
							case !isAllowed.Load():
								return nil, forbidden("watch")
							case opts.SendInitialEvents != nil:
								return nil, errors.New("lists are not streamed")
							}
							return watch.NewFake(), nil
						},
					}
				}}
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { defer close(ended); portions{p}.runAll(ctx) }()
				defer func() { stop(); <-ended }()
				time.Sleep(10 * time.Second)
				before := told.Load()
				time.Sleep(5 * time.Minute)
				if again := told.Load() - before; again != 0 || !p.isForbidden() || p.hasSynced() != (ofList == nil) {
					t.Errorf("within five minutes it is reported %d times again; forbidden %t, listed %t", again, p.isForbidden(), p.hasSynced())
				}
				isAllowed.Store(true)
				time.Sleep(time.Minute)
				if p.isForbidden() || !p.hasSynced() || p.trouble.Load() != nil {
					t.Errorf("once it is allowed: forbidden %t, listed %t", p.isForbidden(), p.hasSynced())
				}
			})
		})
	}
}

func eventually(t *testing.T, is func() bool) {
	t.Helper()
	for !is() {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
