package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEditor: where there is an extension for editors, make vsix builds it, and
// the release holds it, with the time of the commit. Without npm nothing begins.
func TestEditor(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, editorDir), 0o755); err != nil {
		t.Fatal(err)
	}
	members := []member{{"extension/package.json", 0o644, []byte("{}")}}
	if err := writeArchive(filepath.Join(dir, "vsce.zip"), commitTime.AddDate(1, 0, 0), members); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte("vsix:\n\tcp vsce.zip '$(OUT)'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := release{version: "v1.2.3", root: dir, work: t.TempDir(), output: t.TempDir(), time: commitTime}
	if err := r.choose(""); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(r.contents(false), editor) {
		t.Errorf("the release holds %v", r.contents(false))
	}
	if err := r.packageEditor(); err != nil {
		t.Fatal(err)
	}
	got := unzip(t, read(t, filepath.Join(r.output, editor)))
	if len(got) != 1 || got[0].name != members[0].name || !bytes.Equal(got[0].data, members[0].data) {
		t.Errorf("the extension is %+v", got)
	}
	t.Setenv("PATH", t.TempDir())
	if err := r.checkTools(); err == nil || !strings.Contains(err.Error(), "apt-get install nodejs npm") {
		t.Errorf("without npm: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, editorDir)); err != nil {
		t.Fatal(err)
	}
	none := release{version: "v1.2.3", root: dir}
	if err := none.choose(""); err != nil || slices.Contains(none.contents(true), editor) || none.checkTools() != nil {
		t.Errorf("without an extension the release holds %v, %v", none.contents(true), err)
	}
}
