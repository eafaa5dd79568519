package controller

import (
	"slices"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// TestWatchedKindsOfOneName: kinds of the same name in two groups are each reported.
func TestWatchedKindsOfOneName(t *testing.T) {
	children, err := cluster.NewChildren(&rest.Config{}, cluster.ChildrenOptions{
		Changed: func(api.Owner, types.UID) {}, Known: func(api.Owner, types.UID) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	one := apischema.GroupVersionKind{Group: "one.example.com", Version: "v1", Kind: "Cluster"}
	two := apischema.GroupVersionKind{Group: "two.example.com", Version: "v1", Kind: "Cluster"}
	r := &kindController{name: "webs.example.com", versions: newKindVersions(nil, nil), resources: known(t, "webs.example.com")}
	r.versions.versions = append(r.versions.versions, servedVersion{version: &observe.Version{Children: map[apischema.GroupVersionKind]live.Need{one: live.Metadata, two: live.Metadata}}})
	o := assembleParts(&process{children: children})
	want := []string{
		"children of kind Cluster.one.example.com are not known: " + children.State(one).Err.Error(),
		"children of kind Cluster.two.example.com are not known: " + children.State(two).Err.Error(),
	}
	if got := o.troubles.describeUnlisted(r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
