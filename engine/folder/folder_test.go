package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// TestOnlyRegularFiles reads a folder with each of these beside a sound file.
func TestOnlyRegularFiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("a: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		make func(file string) error
		want string
	}{
		{"a pipe", func(f string) error { return syscall.Mkfifo(f, 0o600) }, "it is not a regular file"},
		{"a directory", func(f string) error { return os.Mkdir(f, 0o700) }, "it is not a regular file"},
		{"a link out", func(f string) error { return os.Symlink(outside, f) }, "x.yaml"},
		{"a large file", func(f string) error { return os.WriteFile(f, make([]byte, MaxFile+1), 0o600) }, "it is larger than 1048576 bytes"},
		{"a link inside", func(f string) error { return os.Symlink("y.yaml", f) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "templates", "things.example.com")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "y.yaml"), []byte("\uFEFFa: 1\r\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(filepath.Join(dir, "x.yaml")); err != nil {
				t.Fatal(err)
			}
			contents, err := FromDir(filepath.Dir(filepath.Dir(dir))).Read()
			if err != nil {
				t.Fatal(err)
			}
			broken := contents.Broken["things.example.com"]
			if tt.want == "" {
				if broken != nil || string(contents.Folders["things.example.com"].Children[1].Data) != "a: 1\n" {
					t.Errorf("got %v", broken)
				}
				return
			}
			if broken == nil || !strings.Contains(broken.Error(), tt.want) {
				t.Errorf("got %v, want %s", broken, tt.want)
			}
		})
	}
}

// TestUnreachableFolders: a folder behind a link that leads out of the root or nowhere is
// broken. It does not look like one that was removed.
func TestUnreachableFolders(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{"out of the root": t.TempDir(), "nowhere": "gone"} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "templates"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(root, "templates", "things.example.com")); err != nil {
			t.Fatal(err)
		}
		contents, err := FromDir(root).Read()
		if err != nil || contents.Broken["things.example.com"] == nil {
			t.Errorf("a link %s: %v, %+v", name, err, contents)
		}
	}
}

// TestBlankSharedFile: a blank file of templates/_lib is an error of every folder, as one
// of its own is.
func TestBlankSharedFile(t *testing.T) {
	t.Parallel()
	for _, blank := range []string{"health.yaml", "names.tpl"} {
		contents, err := FromFS(fstest.MapFS{
			"templates/_lib/" + blank:               {Data: []byte(" \n")},
			"templates/things.example.com/one.yaml": {Data: []byte("a: 1")},
		}, "root").Read()
		want := "reading root/templates/_lib/" + blank + ": it is empty: write it, or remove it"
		if err != nil || fmt.Sprint(contents.Broken["things.example.com"]) != want {
			t.Errorf("%s: %v, %v, want %s", blank, err, contents.Broken, want)
		}
	}
}
