package lsp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// shippedTemplates are the templates of this repository, as paths in it.
func shippedTemplates(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"../../templates/*/*.yaml", "../../templates/*/*.tpl"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			all = append(all, strings.TrimPrefix(filepath.ToSlash(file), "../../"))
		}
	}
	if len(all) < 12 {
		t.Fatalf("there are only %q", all)
	}
	return all
}

// TestEachPrefix takes beginnings of the shipped templates for their texts: each one of a
// template and of a partial, and of the others one in 29, from another byte in each file;
// with JACQUARD_EACH_PREFIX=all, each of all. What is completed at its end is answered, and
// by turns all that is asked else, and nothing panics, which the server would log.
func TestEachPrefix(t *testing.T) {
	names := map[string]bool{}
	for _, file := range shippedTemplates(t) {
		names[strings.Split(file, "/")[1]] = true
	}
	e := startEditor(t, copied(t, sortedKeys(names)...))
	for i, file := range shippedTemplates(t) {
		if filepath.Base(file) == "kind.yaml" {
			continue
		}
		e.open(file)
		whole := e.texts[file]
		first, step := i%29, 29
		if file == status || file == ports || os.Getenv("JACQUARD_EACH_PREFIX") == "all" {
			first, step = 0, 1
		}
		for n := first; n < len(whole); n += step {
			e.set(file, strings.ToValidUTF8(whole[:n], ""))
			at := map[string]any{"textDocument": map[string]any{"uri": e.uri(file)}, "position": positionOf(whole, n), "newName": "x",
				"context": map[string]any{"diagnostics": []diagnostic{}}}
			others := []string{"hover", "definition", "codeAction", "prepareRename", "references"}
			for _, method := range []string{"completion", others[n%len(others)]} {
				if err := e.try("textDocument/"+method, at, nil); err != nil {
					t.Fatalf("%s of the first %d bytes of %s: %v", method, n, file, err)
				}
			}
		}
		e.set(file, whole)
		e.finds(file)
	}
}

// TestMended: each beginning of each shipped template is mended into one that parses, and
// in which nothing moved.
func TestMended(t *testing.T) {
	for _, file := range shippedTemplates(t) {
		data, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for n := range len(data) {
			text := string(data[:n])
			got := mendText(text)
			if err := parseError(got); err != nil {
				t.Fatalf("%s[:%d]: %v in\n%s", file, n, err, got)
			}
			if len(got) < len(text) || strings.Count(got[:len(text)], "\n") != strings.Count(text, "\n") {
				t.Fatalf("%s[:%d] moved:\n%s", file, n, got)
			}
			kept += strings.Count(got, "{{") - strings.Count(text, "{{")
		}
		if kept < -len(data) {
			t.Errorf("%s: of each beginning, %d actions are lost", file, -kept/len(data))
		}
	}
}

// large is a root with one kind of so many files, and a partial that each of them calls.
func large(t testing.TB, files int) string {
	t.Helper()
	root := t.TempDir()
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	write(t, root, "crds/pages.example.com.yaml", strings.Replace(page, "        type: object\n", "        type: object\n        required: [spec]\n", 1))
	write(t, root, "examples/pages.example.com.yaml", "apiVersion: example.com/v1\nkind: Page\nmetadata: {name: a}\nspec: {text: b}\n")
	write(t, root, "templates/pages.example.com/_labels.tpl", "{{ define \"labels\" }}page: {{ .metadata.name }}{{ end }}\n")
	write(t, root, "templates/pages.example.com/_other.tpl", "{{ define \"other\" }}page: {{ .metadata.name }}{{ end }}\n")
	for i := range files {
		var b strings.Builder
		fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}-%d\n  labels: {{ include \"labels\" . }}\n", i)
		fmt.Fprintf(&b, "data:\n  next: {{ (child \"file%d\").metadata.uid }}\n", (i+1)%files)
		for line := range 40 {
			fmt.Fprintf(&b, "  key%d: |\n    {{- if .spec.text }}\n    {{ .spec.text }}\n    {{- end }}\n", line)
		}
		write(t, root, fmt.Sprintf("templates/pages.example.com/file%d.yaml", i), b.String())
	}
	return root
}

// TestKeystroke: a change of a file costs the analysis of that file, of the partials that
// it calls, and of stubs for the files that it names, however many there are.
func TestKeystroke(t *testing.T) {
	e := startEditor(t, large(t, 30))
	const dir = "templates/pages.example.com/"
	e.open(dir + "file3.yaml")
	e.open(dir + "_other.tpl")
	e.finds(dir + "file3.yaml")
	e.finds(dir+"_other.tpl", "1:1 unused-partial")
	analysed := func(file, old, with string, want ...string) map[string]int {
		t.Helper()
		e.server.mu.Lock()
		clear(e.server.counts)
		e.server.mu.Unlock()
		e.replace(file, old, with)
		e.finds(file, want...)
		e.server.mu.Lock()
		defer e.server.mu.Unlock()
		return maps.Clone(e.server.counts)
	}
	got := sortedKeys(analysed(dir+"file3.yaml", "key7: |", "key7:   |"))
	if want := []string{dir + "_labels.tpl", dir + "file3.yaml", dir + "file4.yaml"}; !slices.Equal(got, want) {
		t.Errorf("a change of a file analysed %q, want %q", got, want)
	}
	got = sortedKeys(analysed(dir+"_other.tpl", "page:", "pages:", "1:1 unused-partial"))
	if want := []string{dir + "_other.tpl"}; !slices.Equal(got, want) {
		t.Errorf("a change of a partial that nothing calls analysed %q, want %q", got, want)
	}

	// What is analysed of a file that is only named is its kind of child.
	e.server.mu.Lock()
	sp := e.server.spaces[0]
	small := sp.texts.reduceFolder(sp.currentFolder("pages.example.com"), dir+"file3.yaml")
	e.server.mu.Unlock()
	for _, f := range small.Children {
		if f.Shown == dir+"file4.yaml" && len(f.Data) > 100 {
			t.Errorf("%s is analysed with %d bytes", f.Shown, len(f.Data))
		}
	}
}

// BenchmarkKeystroke checks a file of 160 lines alone, in folders of few and of many such
// files.
func BenchmarkKeystroke(b *testing.B) {
	for _, files := range []int{3, 30, 120} {
		b.Run(fmt.Sprint(files, " files"), func(b *testing.B) {
			e := startEditor(b, large(b, files))
			const file = "templates/pages.example.com/file1.yaml"
			e.open(file)
			e.until("the whole kind is checked", func() bool {
				e.server.mu.Lock()
				defer e.server.mu.Unlock()
				return len(e.server.spaces[0].results) > 0 && e.current(file)
			})
			e.server.mu.Lock()
			sp, doc := e.server.spaces[0], e.server.docs[filepath.Join(e.root, file)]
			e.server.mu.Unlock()
			for b.Loop() {
				if _, ok, err := sp.ownFindings(file, file, doc.text, e.server.countTemplates); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// TestSuperseded: a request ends when its document changes, and a later one is answered.
func TestSuperseded(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open(deployment)
	e.finds(deployment)
	started, ended := make(chan struct{}), make(chan error, 1)
	e.slow = handleQuery(e.server, func(ctx context.Context, _ *query) (any, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	go func() { ended <- e.try("test/slow", e.at(deployment, "{{ .spec.im‸age }}"), nil) }()
	<-started
	e.replace(deployment, ".spec.image", ".spec.imag")
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "-32801") {
		t.Errorf("got %v", err)
	}
	if got := e.completes(deployment, "{{ .spec.imag‸ }}"); !slices.Contains(got, "image") {
		t.Errorf("got %q", got)
	}
}

// TestPanic: a panic is an error of its request and is logged; the server goes on.
func TestPanic(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open(deployment)
	e.slow = handleQuery(e.server, func(_ context.Context, _ *query) (any, error) {
		var nothing *typecheck.Value
		return nothing.Const, nil
	})
	if err := e.try("test/slow", e.at(deployment, "{{ .spec.im‸age }}"), nil); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("got %v", err)
	}
	if text := e.log.String(); !strings.Contains(text, "nil pointer") || !strings.Contains(text, "prefix_test.go") {
		t.Errorf("the log says %q", text)
	}
	e.log.Reset()
	e.finds(deployment)
}
