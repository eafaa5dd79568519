package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// readConditions returns those conditions of an object that can be read.
func readConditions(object *unstructured.Unstructured) []metav1.Condition {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var all []metav1.Condition
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		var condition metav1.Condition
		if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &condition) == nil {
			all = append(all, condition)
		}
	}
	return all
}

// checkReadiness reports whether an object is ready in its present generation, and returns the
// message of its Ready condition.
func checkReadiness(object *unstructured.Unstructured) (ready bool, message string) {
	for _, condition := range readConditions(object) {
		if condition.Type != "Ready" {
			continue
		}
		current := condition.ObservedGeneration == object.GetGeneration()
		return condition.Status == metav1.ConditionTrue && current, condition.Message
	}
	return false, "not looked at yet"
}

// awaitReady shows the resources until all are ready. There must be as many
// as the examples have.
func (d *demo) awaitReady(ctx context.Context) error {
	d.screen.printHeading("Getting ready")
	p := &progress{screen: d.screen, said: map[string]string{}}
	late := time.Now().Add(d.limit)
	for {
		items, err := d.client.listCategory(ctx)
		if err == nil {
			p.showItems(items)
			err = notReady(items)
		}
		if err == nil {
			return d.allThere(items)
		}
		if time.Now().After(late) {
			return d.withOperatorLog(fmt.Errorf("not all are ready after %s: %w", d.limit, err))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// allThere finds examples that are no resources of the operator: nothing
// would wait for them.
func (d *demo) allThere(items []item) error {
	for _, name := range d.kinds {
		file := filepath.Join(d.root, "examples", name+".yaml")
		objects, err := readFile(file)
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		known := slices.ContainsFunc(objects, func(object *unstructured.Unstructured) bool {
			return slices.ContainsFunc(items, func(i item) bool {
				return i.GetKind() == object.GetKind() && i.GetName() == object.GetName()
			})
		})
		if !known {
			return fmt.Errorf("%s holds no resource of a kind in the category %q", file, category)
		}
	}
	d.screen.printStep("all %d resources are ready", len(items))
	return nil
}

// notReady lists those that are not ready with all they say, or is nil.
func notReady(items []item) error {
	var all []error
	for _, i := range items {
		ready, message := checkReadiness(i.Unstructured)
		if ready {
			continue
		}
		lines := []string{fmt.Sprintf("%s: %s", describeObject(i.Unstructured), message)}
		for _, c := range readConditions(i.Unstructured) {
			lines = append(lines, fmt.Sprintf("  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
		all = append(all, errors.New(strings.Join(lines, "\n")))
	}
	if len(items) == 0 {
		return errors.New("there are no resources")
	}
	return errors.Join(all...)
}

// A progress shows how resources get ready: on a terminal in place, elsewhere
// a line for each change.
type progress struct {
	screen *screen
	said   map[string]string
}

// showItems prints whether items are ready. On a terminal, it draws all of them again. Elsewhere,
// it prints those that changed.
func (p *progress) showItems(items []item) {
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Compare(describeObject(a.Unstructured), describeObject(b.Unstructured))
	})
	var rows [][]string
	for _, i := range items {
		ready, message := checkReadiness(i.Unstructured)
		rows = append(rows, []string{formatReady(ready), describeObject(i.Unstructured), strings.ReplaceAll(message, "\n", " ")})
	}
	lines := alignColumns(rows)
	for i, line := range lines {
		lines[i] = p.screen.formatElapsed() + "  " + line
	}
	if p.screen.terminal {
		p.screen.drawBlock(lines)
		return
	}
	for i, row := range rows {
		if text := row[0] + row[2]; p.said[row[1]] != text {
			p.said[row[1]] = text
			fmt.Fprintln(p.screen, lines[i])
		}
	}
}
