//go:build !operator

package cli

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/rbac/exposure"
)

// An exposed is a kind, and what its fields reach.
type exposed struct {
	Name   string           `json:"name"`
	Fields []exposure.Field `json:"fields"`
}

// printExposure prints what the fields of kinds reach.
func (f *rbacFlags) printExposure(to io.Writer, kinds *catalog.Catalog, names []string) error {
	names, errs := chooseKinds(kinds, names)
	all := []exposed{}
	for _, name := range names {
		k := kinds.Kinds[name]
		if k == nil {
			errs = append(errs, kinds.Broken[name])
			continue
		}
		fields, err := exposure.Of(k, kinds.Type)
		errs = append(errs, err)
		all = append(all, exposed{name, fields})
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if f.output == "json" {
		return encodeJSON(to, all)
	}
	for _, one := range all {
		if err := one.write(to); err != nil {
			return err
		}
	}
	return nil
}

func (e exposed) write(to io.Writer) error {
	fmt.Fprintln(to, e.Name)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, field := range e.Fields {
		if len(field.Reaches) == 0 {
			fmt.Fprintf(w, "  %s\tdecides only\twhat is rendered or read\t\n", field.Path)
		}
		path := field.Path
		for _, r := range field.Reaches {
			part := ""
			if r.Part {
				part = " (a part)"
			}
			fmt.Fprintf(w, "  %s\t%s\t%s %s%s\t%s\n", path, r.Risk, r.Kind, r.Path, part, r.Place)
			path = ""
		}
	}
	return w.Flush()
}
