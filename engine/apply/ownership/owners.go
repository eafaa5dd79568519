package ownership

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// An Owner is one field manager of an object and the fields that it owns.
type Owner struct {
	Manager     string `json:"manager"`
	Operation   string `json:"operation"`
	Subresource string `json:"subresource,omitempty"`
	// Time is when the entry last changed, RFC 3339, or "".
	Time string `json:"time,omitempty"`
	// Paths are the leaves, sorted; they hold no values but the keys by which
	// items of lists are told apart.
	Paths []string `json:"paths"`
}

// Owners tells who owns which fields, in the order of managedFields.
func Owners(managed []metav1.ManagedFieldsEntry) ([]Owner, error) {
	var all []Owner
	for _, m := range managed {
		fields, err := parse(m)
		if err != nil {
			return nil, fmt.Errorf("reading managedFields of %s: %w", m.Manager, err)
		}
		o := Owner{Manager: m.Manager, Operation: string(m.Operation), Subresource: m.Subresource, Paths: []string{}}
		if m.Time != nil {
			o.Time = m.Time.UTC().Format(time.RFC3339)
		}
		fields.Leaves().Iterate(func(p fieldpath.Path) { o.Paths = append(o.Paths, formatPath(p)) })
		slices.Sort(o.Paths)
		o.Paths = slices.Compact(o.Paths)
		all = append(all, o)
	}
	return all, nil
}
