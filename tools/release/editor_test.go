package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEditor: make vsix builds the extension for editors, and the release holds it, with
// the time of the commit. Without npm nothing begins. A part of a release goes without.
func TestEditor(t *testing.T) {
	dir := t.TempDir()
	members := []member{{"extension/package.json", 0o644, []byte("{}")}}
	if err := writeArchive(filepath.Join(dir, "vsce.zip"), commitTime.AddDate(1, 0, 0), members); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte("vsix:\n\tcp vsce.zip '$(OUT)'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := release{version: "v1.2.3", root: dir, work: t.TempDir(), output: t.TempDir(), time: commitTime}
	if err := r.choosePlatforms(""); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(r.listContents(false), editor) {
		t.Errorf("the release holds %v", r.listContents(false))
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
	part := release{version: "v1.2.3", root: dir}
	if err := part.choosePlatforms("linux/amd64"); err != nil || slices.Contains(part.listContents(true), editor) || part.checkTools() != nil {
		t.Errorf("a part of a release holds %v, %v", part.listContents(true), err)
	}
}
