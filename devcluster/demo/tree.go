package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// showTree shows what each resource became: the children of its status, and
// whatever these own, down to Pods.
func (d *demo) showTree(ctx context.Context) error {
	ours, err := d.client.ours(ctx)
	if err != nil {
		return err
	}
	f, err := d.client.forest(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(ours, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), compareItems(a, b))
	})
	var rows [][]string
	for _, i := range ours {
		rows = append(rows, []string{describe(i.Unstructured), detail(i)})
		rows = f.branch(rows, f.children(i), "")
		for _, patched := range f.patched[i.GetUID()] {
			rows = append(rows, []string{"~ " + patched.GetKind() + " " + patched.GetName(), "patched"})
		}
	}
	d.screen.heading("What they became")
	for _, line := range columns(rows) {
		fmt.Fprintln(d.screen, "  "+line)
	}
	return nil
}

// A forest is all objects of the cluster, to be followed from owner to owned.
type forest struct {
	named map[string]item      // by apiVersion, kind, namespace and name
	owned map[types.UID][]item // by the controlling owner
	// patched are somebody else's objects that have fields of a resource.
	patched map[types.UID][]item
}

// forest lists everything, as metadata.
func (c *client) forest(ctx context.Context) (*forest, error) {
	resources, err := c.resources()
	if err != nil {
		return nil, err
	}
	f := &forest{named: map[string]item{}, owned: map[types.UID][]item{}, patched: map[types.UID][]item{}}
	seen := map[types.UID]bool{} // some are served by two groups
	for _, r := range resources {
		items, err := c.list(ctx, r, false)
		if err != nil {
			return nil, err
		}
		for _, i := range items {
			f.named[key(i.GetAPIVersion(), i.GetKind(), i.GetNamespace(), i.GetName())] = i
			for _, owner := range i.GetOwnerReferences() {
				if !seen[i.GetUID()] && owner.Controller != nil && *owner.Controller {
					f.owned[owner.UID] = append(f.owned[owner.UID], i)
				}
			}
			if by := patcher(i); by != "" && !seen[i.GetUID()] {
				f.patched[by] = append(f.patched[by], i)
			}
			seen[i.GetUID()] = true
		}
	}
	return f, nil
}

// patcher is the uid of the resource that patched an object, "" without one.
func patcher(i item) types.UID {
	for _, entry := range i.GetManagedFields() {
		if uid, ours := strings.CutPrefix(entry.Manager, "jacquard-"); ours && len(uid) == len(i.GetUID()) {
			return types.UID(uid)
		}
	}
	return ""
}

func key(parts ...string) string { return strings.Join(parts, "|") }

// children returns what a resource's status calls its children, then what it
// owns besides.
func (f *forest) children(owner item) []item {
	list, _, _ := unstructured.NestedSlice(owner.Object, "status", "children")
	var all []item
	known := map[types.UID]bool{}
	for _, entry := range list {
		child, _ := entry.(map[string]any)
		text := func(field string) string { value, _ := child[field].(string); return value }
		i, ok := f.named[key(text("apiVersion"), text("kind"), text("namespace"), text("name"))]
		if ok {
			all = append(all, i)
			known[i.GetUID()] = true
		}
	}
	for _, i := range f.owned[owner.GetUID()] {
		if !known[i.GetUID()] {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, compareItems)
	return all
}

func compareItems(a, b item) int {
	return cmp.Or(cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetName(), b.GetName()))
}

// branch appends a row for each item, and below it for all that it owns.
func (f *forest) branch(rows [][]string, items []item, indent string) [][]string {
	for n, i := range items {
		fork, below := "├─ ", "│  "
		if n == len(items)-1 {
			fork, below = "└─ ", "   "
		}
		rows = append(rows, []string{indent + fork + i.GetKind() + " " + i.GetName(), detail(i)})
		owned := f.owned[i.GetUID()]
		slices.SortFunc(owned, compareItems)
		rows = f.branch(rows, owned, indent+below)
	}
	return rows
}

// details are the columns worth a place in the tree, with their wording.
var details = [][2]string{
	{"Ready", "%s ready"}, {"Status", "%s"}, {"Node", "on %s"},
	{"Cluster-IP", "%s"}, {"Port(s)", "%s"}, {"Endpoints", "%s"}, {"Host", "%s"},
}

func detail(i item) string {
	if ready, _ := readiness(i.Unstructured); ready {
		return "✓ Ready"
	}
	var all []string
	for _, d := range details {
		if text := i.cell(d[0]); text != "" && text != "<none>" && text != "<unset>" {
			all = append(all, fmt.Sprintf(d[1], text))
		}
	}
	return strings.Join(all, ", ")
}
