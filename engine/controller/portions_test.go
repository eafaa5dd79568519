package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/cluster"
)

// TestNamesWhatIsNotServed: of a kind it is said in which namespaces its resources
// may not be listed, and why; what only has not been listed yet is no trouble.
func TestNamesWhatIsNotServed(t *testing.T) {
	in := func(namespace string, trouble error) *portion {
		p := &portion{namespace: namespace, told: func() {}, listed: func() {}}
		if trouble != nil {
			p.recordFailure(t.Context(), trouble)
		}
		return p
	}
	forbidden := apierrors.NewForbidden(apischema.GroupResource{Group: "example.com", Resource: "webs"}, "", errors.New("no rights"))
	why := " cannot be listed: webs.example.com is forbidden: no rights"
	for name, c := range map[string]struct {
		all  portions
		want []string
		// forbidden and failing are for the metrics.
		forbidden, failing int
	}{
		"none": {portions{in("a", nil), in("b", errors.New("no connection"))}, nil, 0, 1},
		"one":  {portions{in("a", nil), in("b", forbidden)}, []string{"resources in namespace b" + why}, 1, 0},
		"two": {portions{in("a", forbidden), in("b", forbidden)}, []string{"resources in namespace a" + why, "resources in namespace b" +
			why}, 2, 0},
		"in all at once": {portions{in("", forbidden)}, []string{"resources" + why}, 1, 0},
	} {
		if got := c.all.describeTroubles(true); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if forbidden, failing := c.all.countTroubles(); forbidden != c.forbidden || failing != c.failing {
			t.Errorf("%s: %d are forbidden and %d fail, want %d and %d", name, forbidden, failing, c.forbidden, c.failing)
		}
	}
}

// TestRefusedIsNotWaitedFor: what the API server refuses to list, or gives no answer to,
// is reported at once. For a moment it may pass; then nobody waits for it any more.
func TestRefusedIsNotWaitedFor(t *testing.T) {
	busy := apierrors.NewTooManyRequests("storage is (re)initializing", 30)
	for name, c := range map[string]struct {
		trouble       error
		owners, lasts time.Duration // after when it is not waited for, and when it counts as lasting; -1: never
	}{
		"refused":       {busy, time.Second, 3 * time.Second},
		"no answer":     {&cluster.SilentError{For: 8 * time.Second}, 0, 0},
		"no connection": {errors.New("connection refused"), -1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := 0
				p := &portion{told: func() { told++ }, listed: func() {}}
				fails := func() { p.recordFailure(t.Context(), c.trouble) }
				if fails(); told != 1 || len(portions{p}.describeTroubles(false)) != 1 {
					t.Errorf("at first it is reported %d times: %q", told, portions{p}.describeTroubles(false))
				}
				for after := time.Duration(0); after < 5*time.Second; after += 500 * time.Millisecond {
					is := func(since time.Duration) bool { return since >= 0 && after >= since }
					if is := is(c.owners); (portions{p}).haveWanted() != is {
						t.Errorf("after %s it is not waited for: %t", after, !is)
					}
					if is := is(c.lasts); (len(portions{p}.describeTroubles(true)) == 1) != is {
						t.Errorf("after %s it lasts: %t", after, !is)
					}
					time.Sleep(500 * time.Millisecond)
					fails()
				}
				if told != 1 {
					t.Errorf("the same trouble was reported %d times", told)
				}
				if p.recordRecovery(); told != 2 || len(portions{p}.describeTroubles(false)) != 0 || (portions{p}).haveWanted() {
					t.Errorf("after it was listed: reported %d times, %q", told, portions{p}.describeTroubles(false))
				}
			})
		})
	}
}

// TestListed: a namespace in which resources may not be listed keeps nobody from
// the others; one that is only slow does.
func TestListed(t *testing.T) {
	forbidden := apierrors.NewForbidden(apischema.GroupResource{Resource: "webs"}, "", errors.New("no rights"))
	known := &portion{synced: true}
	slow, denied, unreachable := &portion{}, &portion{told: func() {}, listed: func() {}}, &portion{told: func() {}, listed: func() {}}
	denied.recordFailure(t.Context(), forbidden)
	unreachable.recordFailure(t.Context(), errors.New("no connection"))
	for name, c := range map[string]struct {
		all  portions
		want bool
	}{
		"all of them":             {portions{known, known}, true},
		"one is forbidden":        {portions{denied, known}, true},
		"all are forbidden":       {portions{denied, denied}, false},
		"one has not been listed": {portions{known, slow}, false},
		"one cannot be reached":   {portions{known, unreachable}, false},
	} {
		if got := c.all.areListed(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestSilenceKeepsTheCause: while the API server lets each try wait before it refuses it,
// as with a conversion webhook that does not answer, the cause stays and is reported once.
func TestSilenceKeepsTheCause(t *testing.T) {
	told := 0
	p := &portion{told: func() { told++ }, listed: func() {}}
	silent, refused := &cluster.SilentError{For: 8 * time.Second}, apierrors.NewInternalError(errors.New("the webhook does not answer"))
	for range 3 {
		p.recordFailure(t.Context(), silent)
		p.recordFailure(t.Context(), refused)
	}
	p.recordFailure(t.Context(), silent)
	want := []string{"resources cannot be listed: Internal error occurred: the webhook does not answer"}
	if got := (portions{p}).describeTroubles(false); told != 2 || !slices.Equal(got, want) {
		t.Errorf("reported %d times, want 2: %q", told, got)
	}
}

// TestSilentListIsNotWaitedFor: other kinds wait only some seconds for resources whose list
// makes no progress, long before that counts as trouble. They wait for an API server that
// cannot be reached.
func TestSilentListIsNotWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		list func(context.Context) error
		want bool // whether nobody waits for it after silentLimit
	}{
		"no answer":     {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, true},
		"no connection": {func(context.Context) error { return errors.New("no connection") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &portion{told: func() {}, listed: func() {}, wanted: everything(), source: func() cache.ListerWatcher {
					return &cache.ListWatch{
						ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) { return nil, c.list(ctx) },
						WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
							return nil, errors.New("lists are not streamed")
						},
					}
				}}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				go p.run(ctx)
				time.Sleep(silentLimit - time.Second)
				if (portions{p}).haveWanted() {
					t.Error("nobody waits for a list that may come yet")
				}
				time.Sleep(time.Second)
				if got := (portions{p}).haveWanted(); got != c.want {
					t.Errorf("after %s nobody waits for it: %t, want %t", silentLimit, got, c.want)
				}
			})
		})
	}
}
