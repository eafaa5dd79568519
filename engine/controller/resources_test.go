package controller

import (
	"errors"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A knownCache is a cache of which everything is known, and nothing is watched.
type knownCache struct {
	items  map[types.NamespacedName]live.Object
	places []cluster.Place
}

// Find returns a resource, whatever its kind.
func (c knownCache) Find(_ string, key types.NamespacedName) (live.Object, bool, error) {
	o, found := c.items[key]
	return o, found, nil
}

// All returns all resources.
func (c knownCache) All(string) (all []metav1.Object) {
	for _, o := range c.items {
		all = append(all, o.Meta)
	}
	return all
}

// Places returns what the cache was made with.
func (c knownCache) Places(string) []cluster.Place { return c.places }

// known are the resources of a kind by their JSON, all of which are listed.
func known(t *testing.T, kind string, objects ...string) kindResources {
	t.Helper()
	c := knownCache{items: map[types.NamespacedName]live.Object{}, places: []cluster.Place{{IsListed: true, IsCurrent: true}}}
	for _, text := range objects {
		o := packed(t, text)
		c.items[o.Key()] = o
	}
	return kindResources{cache: c, kind: kind}
}

// packed is a resource as a watch delivers it.
func packed(t *testing.T, text string) live.Object {
	t.Helper()
	p, err := live.Pack([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, err := live.Of(apischema.GroupVersionKind{}, p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestPlaces: a namespace in which resources may not be listed keeps nobody from the others; one
// that is only slow does, until it has been refused, or silent, for long enough. It is said where
// they cannot be listed, and why; what only has not been listed yet is no trouble.
func TestPlaces(t *testing.T) {
	forbidden := apierrors.NewForbidden(apischema.GroupResource{Group: "example.com", Resource: "webs"}, "", errors.New("no rights"))
	unreachable := errors.New("no connection")
	listed, slow := cluster.Place{IsListed: true, IsCurrent: true}, cluster.Place{}
	denied := cluster.Place{Namespace: "b", Err: forbidden, IsGivenUp: true}
	refused := cluster.Place{Namespace: "a", Err: unreachable}
	const why = "resources in namespace b cannot be listed: webs.example.com is forbidden: no rights"
	const unknown = "resources in namespace a cannot be listed: no connection"
	for name, c := range map[string]struct {
		all                                          places
		listed, undecided, listing, current, settled bool
		// troubles are those that are reported, and lasting those that have lasted.
		troubles, lasting  []string
		forbidden, failing int
	}{
		"nothing is watched":      {},
		"all are listed":          {all: places{listed, listed}, listed: true, current: true, settled: true},
		"one is forbidden":        {all: places{denied, listed}, listed: true, current: true, settled: true, troubles: []string{why}, lasting: []string{why}, forbidden: 1},
		"all are forbidden":       {all: places{denied}, current: true, settled: true, troubles: []string{why}, lasting: []string{why}, forbidden: 1},
		"one has not been listed": {all: places{listed, slow}, undecided: true, listing: true},
		"one gives no answer":     {all: places{listed, {IsSilent: true}}, undecided: true, listing: true, settled: true},
		"one cannot be reached":   {all: places{listed, refused}, undecided: true, troubles: []string{unknown}, failing: 1},
		"one is refused for long": {all: places{listed, {Namespace: "a", Err: unreachable, IsGivenUp: true}}, listed: true, current: true, settled: true,
			troubles: []string{unknown}, lasting: []string{unknown}, failing: 1},
		"another part is wanted":     {all: places{{IsListed: true}}, listed: true, listing: true},
		"in all namespaces at once":  {all: places{{Err: unreachable}}, undecided: true, troubles: []string{"resources cannot be listed: no connection"}, failing: 1},
		"the watch broke, and lists": {all: places{{IsListed: true, IsCurrent: true, Err: unreachable}}, listed: true, current: true, settled: true, troubles: []string{"resources cannot be listed: no connection"}, failing: 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := []bool{c.all.areListed(), c.all.areUndecided(), c.all.areListing(), c.all.areCurrent(), c.all.areSettled()}
			if want := []bool{c.listed, c.undecided, c.listing, c.current, c.settled}; !slices.Equal(got, want) {
				t.Errorf("listed, undecided, listing, current, settled: %v, want %v", got, want)
			}
			if got := c.all.describeTroubles(false); !slices.Equal(got, c.troubles) {
				t.Errorf("troubles: %q, want %q", got, c.troubles)
			}
			if got := c.all.describeTroubles(true); !slices.Equal(got, c.lasting) {
				t.Errorf("lasting troubles: %q, want %q", got, c.lasting)
			}
			if forbidden, failing := c.all.countTroubles(); forbidden != c.forbidden || failing != c.failing {
				t.Errorf("%d are forbidden and %d fail, want %d and %d", forbidden, failing, c.forbidden, c.failing)
			}
		})
	}
}
