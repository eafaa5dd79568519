package rollout

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A Preview is what the new version would make of one resource, found out
// without changing anything.
type Preview struct {
	Name       types.NamespacedName
	UID        types.UID
	Generation int64
	// Labels are the resource's own.
	Labels map[string]string
	// Alone: the version that served it is not here, so nothing can be done for
	// it until the new one does.
	Alone bool
	// Unserved: it is alone, and no version has served it yet.
	Unserved bool
	// Ready and Refused are what its status says before the change: whether it
	// is ready, and whether the API refuses a child of it.
	Ready, Refused bool
	// Same: the new version changes none of its children, nor what its status
	// says. Mine: nor has the version before made it so.
	Same, Mine bool
	// Error says why the new version cannot render it although the version
	// that it has can; "" if it can.
	Error string
	// Children is how many live children it has.
	Children int
	// Lost are the children that the new version would delete, Replace those that
	// it changes and that may be recreated, should the API refuse that.
	Lost, Replace []Child
}

// A Child names a child.
type Child struct {
	schema.GroupKind
	Namespace, Name string
	UID             types.UID
}

// String returns "Kind namespace/name", or "Kind name" for a cluster-scoped
// child.
func (c Child) String() string {
	if c.Namespace == "" {
		return c.Kind + " " + c.Name
	}
	return c.Kind + " " + c.Namespace + "/" + c.Name
}

// dataKinds are kinds of children whose deletion loses what no template brings
// back, or stops what runs: each needs approval.
var dataKinds = []schema.GroupKind{
	{Kind: "PersistentVolumeClaim"}, {Kind: "Namespace"},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, {Group: "apps", Kind: "StatefulSet"},
}

func holdsData(c Child) bool { return slices.Contains(dataKinds, c.GroupKind) }

// few is how many deletions are never too many by their number alone. Where a
// kind has a handful of children any renamed one is more than a tenth of them:
// without this floor whoever tries out a folder would approve every step, and
// learn to approve unread. Three can be looked over, and made again by hand.
const few = 3

// tooMany reports whether a number of deletions is more than a tenth of all.
func tooMany(lost, all int) bool { return lost > few && lost*10 > all }

// ByName orders resources by namespace and name.
func ByName(a, b types.NamespacedName) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}
