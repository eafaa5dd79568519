package controller

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// TestNamesWhatIsNotServed: of a kind it is said in which namespaces its resources
// may not be listed, and why; what only has not been listed yet is no trouble.
func TestNamesWhatIsNotServed(t *testing.T) {
	in := func(namespace string, trouble error) *portion {
		p := &portion{namespace: namespace}
		if trouble != nil {
			p.failed(trouble)
		}
		return p
	}
	forbidden := apierrors.NewForbidden(apischema.GroupResource{Group: "example.com", Resource: "webs"}, "", errors.New("no rights"))
	why := " cannot be listed: webs.example.com is forbidden: no rights"
	for name, c := range map[string]struct {
		all  portions
		want string
		n    int
	}{
		"none": {portions{in("a", nil), in("b", errors.New("no connection"))}, "", 0},
		"one":  {portions{in("a", nil), in("b", forbidden)}, "resources in namespace b" + why, 1},
		"two": {portions{in("a", forbidden), in("b", forbidden)}, "resources in namespace a" + why + "; resources in namespace b" +
			why, 2},
		"in all at once": {portions{in("", forbidden)}, "resources" + why, 1},
	} {
		if got, n := c.all.troubles(); got != c.want || n != c.n {
			t.Errorf("%s: %d, %q, want %d, %q", name, n, got, c.n, c.want)
		}
	}
}

// TestListed: a namespace in which resources may not be listed keeps nobody from
// the others; one that is only slow does.
func TestListed(t *testing.T) {
	forbidden := apierrors.NewForbidden(apischema.GroupResource{Resource: "webs"}, "", errors.New("no rights"))
	known := &portion{synced: true}
	slow, denied, unreachable := &portion{}, &portion{}, &portion{}
	denied.failed(forbidden)
	unreachable.failed(errors.New("no connection"))
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
		if got := c.all.listed(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
