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

// conditions returns an object's conditions, those that can be read.
func conditions(object *unstructured.Unstructured) []metav1.Condition {
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

// readiness reports whether an object is ready in its present generation, and
// what its Ready condition has to say.
func readiness(object *unstructured.Unstructured) (ready bool, message string) {
	for _, condition := range conditions(object) {
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
	d.screen.heading("Getting ready")
	p := &progress{screen: d.screen, said: map[string]string{}}
	late := time.Now().Add(d.limit)
	for {
		items, err := d.client.ours(ctx)
		if err == nil {
			p.show(items)
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
	d.screen.step("all %d resources are ready", len(items))
	return nil
}

// notReady lists those that are not ready with all they say, or is nil.
func notReady(items []item) error {
	var all []error
	for _, i := range items {
		ready, message := readiness(i.Unstructured)
		if ready {
			continue
		}
		lines := []string{fmt.Sprintf("%s: %s", describe(i.Unstructured), message)}
		for _, c := range conditions(i.Unstructured) {
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

func (p *progress) show(items []item) {
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Compare(describe(a.Unstructured), describe(b.Unstructured))
	})
	var rows [][]string
	for _, i := range items {
		ready, message := readiness(i.Unstructured)
		rows = append(rows, []string{mark(ready), describe(i.Unstructured), strings.ReplaceAll(message, "\n", " ")})
	}
	lines := columns(rows)
	for i, line := range lines {
		lines[i] = p.screen.elapsed() + "  " + line
	}
	if p.screen.terminal {
		p.screen.draw(lines)
		return
	}
	for i, row := range rows {
		if text := row[0] + row[2]; p.said[row[1]] != text {
			p.said[row[1]] = text
			fmt.Fprintln(p.screen, lines[i])
		}
	}
}
