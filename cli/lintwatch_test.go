//go:build !operator

package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A screen is what was printed so far.
type screen struct {
	sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.text.Write(p)
}

// shows waits until a text has been printed, and then takes all that was.
func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		s.Lock()
		found := strings.Contains(s.text.String(), text)
		if found {
			s.text.Reset()
		}
		s.Unlock()
		if found {
			return
		}
	}
	s.Lock()
	defer s.Unlock()
	t.Fatalf("%q was not printed, but %q", text, s.text.String())
}

// TestWatch: what changes is checked again, what a new directory holds too, and
// a folder that cannot be read ends nothing.
func TestWatch(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../author/lint/testdata/widgets")); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &screen{}
	o := &lintOptions{roots: []string{root}, output: "text", watch: true}
	ended := make(chan error)
	go func() { ended <- o.lintAndWatch(ctx, newFindingPrinter(s, s)) }()
	s.shows(t, "1 kind, no findings\n")

	const folder, more = "templates/widgets.example.com/", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ childName .metadata.name \"b\" }}\n"
	write(folder+"more.yaml", more+"data:\n  a: \"{{ .spec.imgae }}\"\n")
	s.shows(t, "did you mean spec.image?")
	write(folder+"more.yaml", more)
	s.shows(t, "1 kind, no findings\n")
	write("examples/widgets.example.com.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec: {}\n")
	s.shows(t, "spec.image: is required")
	write("examples/widgets.example.com.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  image: b\n")
	s.shows(t, "1 kind, no findings\n")
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with: %v", err)
	}
}

// TestConcerns: which kinds are checked again after a change.
func TestConcerns(t *testing.T) {
	o := &lintOptions{roots: []string{".", "other"}}
	for file, want := range map[string]string{
		"templates/a.example.com/x.yaml":             "a.example.com",
		"other/templates/b.example.com/tests/c/cr.y": "b.example.com",
		"examples/a.example.com.yaml":                "a.example.com",
		"templates/_lib/x.tpl":                       "",
		"templates/a.example.com":                    "",
		"crds/a.example.com.yaml":                    "",
		"schemas/x.yaml":                             "",
	} {
		if got, _ := o.findOwner(file); got != want {
			t.Errorf("%s belongs to %q, want %q", file, got, want)
		}
	}
}
