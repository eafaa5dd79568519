package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// showTable shows all resources as `kubectl get` would, but in one table.
func (d *demo) showTable(ctx context.Context) error {
	items, err := d.client.listCategory(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"NAMESPACE", "NAME", "READY", "AGE", "WHAT"}}
	for _, i := range items {
		rows = append(rows, []string{
			i.GetNamespace(), i.GetKind() + "/" + i.GetName(), i.cellOf("Ready"), i.cellOf("Age"), formatOwnColumns(i),
		})
	}
	slices.SortFunc(rows[1:], slices.Compare)
	d.screen.printHeading("The resources")
	for _, line := range alignColumns(rows) {
		fmt.Fprintln(d.screen, "  "+line)
	}
	return nil
}

// formatOwnColumns returns the columns that only this kind has.
func formatOwnColumns(i item) string {
	var all []string
	for _, cell := range i.cells {
		if slices.Contains([]string{"Name", "Ready", "Age"}, cell[0]) || cell[1] == "" {
			continue
		}
		all = append(all, strings.ToLower(cell[0])+" "+cell[1])
	}
	return strings.Join(all, ", ")
}
