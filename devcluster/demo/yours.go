package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kind that begins in an empty folder, and what becomes of its example.
const (
	yourKind  = "greetings.demo.example.com"
	yourChild = "greeting-example-text"
)

// makeYours makes a kind while the operator runs, and changes it.
func (d *demo) makeYours(ctx context.Context) error {
	d.screen.printHeading("Now yours: a kind in an empty folder, while the operator runs")
	root := d.relativePath("yours")
	if _, err := d.runJacquard(ctx, "new", "Greeting", "--group", "demo.example.com", "--version", "v1", "--root", root); err != nil {
		return err
	}
	d.screen.printStep("jacquard new Greeting --group demo.example.com --version v1 --root %s", root)
	if err := d.applyNew(ctx, filepath.Join(d.dir, "yours", "crds", yourKind+".yaml")); err != nil {
		return err
	}
	example := filepath.Join("yours", "examples", yourKind+".yaml")
	if err := d.applyFile(ctx, filepath.Join(d.dir, example)); err != nil {
		return err
	}
	d.screen.printStep("kubectl apply -f %s", d.relativePath(example))
	begun := time.Now()
	if err := d.awaitText(ctx, "text", "hello"); err != nil {
		return err
	}
	d.screen.printStep("served after %.1f s: ConfigMap %s has text: hello", time.Since(begun).Seconds(), yourChild)
	file := filepath.Join(d.dir, "yours", "templates", yourKind, "configmap.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading a template: %w", err)
	}
	const before, after = "  text: {{ .spec.text }}\n", "  text: {{ .spec.text }}\n  loud: {{ upper .spec.text }}!\n"
	changed := strings.Replace(string(text), before, after, 1)
	if changed == string(text) {
		return fmt.Errorf("%s has no line %q", file, before)
	}
	begun = time.Now()
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		return fmt.Errorf("writing a template: %w", err)
	}
	d.screen.printStep("added a line to %s: loud: {{ upper .spec.text }}!", d.relativePath("yours", "templates", yourKind, "configmap.yaml"))
	if err := d.awaitText(ctx, "loud", "HELLO!"); err != nil {
		return err
	}
	d.screen.printStep("served after %d ms, without a restart: loud: HELLO!", time.Since(begun).Milliseconds())
	return nil
}

// applyFile applies all objects of a file.
func (d *demo) applyFile(ctx context.Context, file string) error {
	objects, err := readFile(file)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	for _, object := range objects {
		if err := awaitSuccess(ctx, d.limit, func() error { return d.client.applyObject(ctx, object) }); err != nil {
			return d.withOperatorLog(err)
		}
	}
	return nil
}

// readYourChild returns the texts of the example's ConfigMap.
func (d *demo) readYourChild(ctx context.Context) (map[string]any, error) {
	object, err := d.client.dynamic.Resource(configMaps).Namespace(d.client.homeNamespace()).Get(ctx, yourChild, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	data, _ := object.Object["data"].(map[string]any)
	return data, nil
}

// awaitText waits until the example's ConfigMap has a text.
func (d *demo) awaitText(ctx context.Context, key, want string) error {
	err := awaitSuccess(ctx, d.limit, func() error {
		data, err := d.readYourChild(ctx)
		if err == nil && data[key] != want {
			err = fmt.Errorf("ConfigMap %s has %s", yourChild, formatTexts(data))
		}
		return err
	})
	if err != nil {
		return d.withOperatorLog(err)
	}
	return nil
}

// followEdits prints what becomes of the folder as somebody edits it, until ctx is done: what lint
// finds after each change, and the texts of the ConfigMap.
func (d *demo) followEdits(ctx context.Context) {
	root := filepath.Join(d.dir, "yours")
	seen, shown := findLastChange(root), ""
	for {
		if data, err := d.readYourChild(ctx); err == nil && fmt.Sprint(data) != shown {
			if shown != "" {
				d.screen.printStep("ConfigMap %s now has %s", yourChild, formatTexts(data))
			}
			shown = fmt.Sprint(data)
		}
		if now := findLastChange(root); now.After(seen) {
			seen, d.edited = now, true
			out, err := d.runJacquard(ctx, "lint", "--root", d.relativePath("yours"))
			if err != nil && ctx.Err() == nil {
				d.screen.printStep("jacquard lint --root %s\n%s", d.relativePath("yours"), out)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// formatTexts returns texts by key, in one line.
func formatTexts(texts map[string]any) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, fmt.Sprintf("%s: %v", key, texts[key]))
	}
	return strings.Join(all, ", ")
}

// findLastChange returns when a file below a folder was last written.
func findLastChange(root string) (last time.Time) {
	_ = filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return nil
	})
	return last
}

// keepEdited moves what somebody edited to where the next demo does not empty it.
func (d *demo) keepEdited() error {
	if !d.edited {
		return nil
	}
	for n := 1; ; n++ {
		to := filepath.Join(d.root, ".demo", fmt.Sprintf("yours-%d", n))
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Rename(filepath.Join(d.dir, "yours"), to); err != nil {
			return fmt.Errorf("keeping your kind: %w", err)
		}
		d.screen.printStep("your kind is in .demo/yours-%d", n)
		return nil
	}
}
