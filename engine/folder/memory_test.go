package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestSameFromMap reads one folder from files and from a map: it is the same
// folder, its digest too.
func TestSameFromMap(t *testing.T) {
	data := map[string][]byte{
		"b.yaml": []byte("b: 1\r\n"), "a.yaml": []byte("a: 1\n"), "_p.tpl": []byte("p"), "status.yaml": []byte("s"),
		"kind.yaml": []byte("k"), "config.yaml": []byte("c"), "files--init.sql": []byte("\uFEFFselect 1;\r\n"), "files--a": nil,
		"_lib-health.yaml": []byte("h\r\n"),
	}
	files := fstest.MapFS{
		"templates/things.example.com/tests/x/resource.yaml": {Data: []byte("x")},
		"templates/things.example.com/.hidden":               {Data: []byte("x")},
		"templates/things.example.com/files/.gitignore":      {Data: []byte("x")},
	}
	for name, text := range data {
		if name == LibHealthName {
			files["templates/_lib/health.yaml"] = &fstest.MapFile{Data: text}
			continue
		}
		files["templates/things.example.com/"+strings.Replace(name, "files--", "files/", 1)] = &fstest.MapFile{Data: text}
	}
	contents, err := FromFS(files, "").Read()
	if err != nil {
		t.Fatal(err)
	}
	if err := contents.Broken["things.example.com"]; err != nil {
		t.Fatal(err)
	}
	fromFiles := contents.Folders["things.example.com"]
	fromMap, err := FromMap("things.example.com", "templates/things.example.com", data)
	if err != nil {
		t.Fatal(err)
	}
	if fromFiles.Health.Shown != "templates/_lib/health.yaml" {
		t.Errorf("the root's health expressions are called %s", fromFiles.Health.Shown)
	}
	fromFiles.Health.Shown = fromMap.Health.Shown
	if diff := cmp.Diff(fromFiles, fromMap, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if f := fromMap.Files[1]; f.Name != "files/init.sql" || string(f.Data) != "\uFEFFselect 1;\r\n" {
		t.Errorf("the file is %q: %q", f.Name, f.Data)
	}
	if fromMap.Config == nil || len(fromMap.Children) != 2 || string(fromMap.Children[1].Data) != "b: 1\n" {
		t.Errorf("got %+v", fromMap)
	}
	for name := range data {
		changed := map[string][]byte{}
		for k, v := range data {
			changed[k] = v
		}
		changed[name] = []byte("changed")
		if other, _ := FromMap("things.example.com", "", changed); other.Digest == fromMap.Digest {
			t.Errorf("a change of %s does not change the digest", name)
		}
	}
}

func TestFromMapRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"x.txt":      "ConfigMap a/b/x.txt: a folder holds *.yaml, _*.tpl and files--NAME, nothing else: rename or remove it",
		"files--":    "ConfigMap a/b/files: a folder holds *.yaml, _*.tpl and files--NAME, nothing else: rename or remove it",
		"files--x/y": "ConfigMap a/b/files/x/y: a folder holds *.yaml, _*.tpl and files--NAME, nothing else: rename or remove it",
		"x.yaml":     "reading ConfigMap a/b/x.yaml: it is larger than 1048576 bytes",
		"b.yaml":     "reading ConfigMap a/b/b.yaml: it is empty: write it, or remove it",
		"_b.tpl":     "reading ConfigMap a/b/_b.tpl: it is empty: write it, or remove it",
		"kind.yaml":  "reading ConfigMap a/b/kind.yaml: it is empty: write it, or remove it",
		"files--bin": "reading ConfigMap a/b/files/bin: it is no text in UTF-8: templates cannot show it",
	} {
		data := []byte{0xff}
		switch name {
		case "x.yaml":
			data = make([]byte, MaxFile+1)
		case "b.yaml", "_b.tpl", "kind.yaml":
			data = []byte("\uFEFF \t\r\n\n")
		}
		_, err := FromMap("things.example.com", "ConfigMap a/b", map[string][]byte{name: data, "a.yaml": []byte("a: 1")})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// TestFilesOnDisk: files/ is read, and a root is opened by its path each time.
func TestFilesOnDisk(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	root := FromDir(link)
	if _, err := root.Read(); err == nil || !strings.HasPrefix(err.Error(), "opening root: ") {
		t.Errorf("a root that is not there: %v", err)
	}
	there, err := filepath.Abs("testdata/root")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(there, link); err != nil {
		t.Fatal(err)
	}
	contents, err := root.Read()
	if err != nil {
		t.Fatal(err)
	}
	if f := contents.Folders["things.example.com"]; f == nil || len(f.Files) != 1 ||
		f.Files[0].Shown != link+"/templates/things.example.com/files/init.sql" {
		t.Errorf("got %+v, %v", f, contents.Broken)
	}
	if text, err := root.File("templates/things.example.com/files/init.sql"); err != nil || len(text) == 0 {
		t.Errorf("got %q, %v", text, err)
	}
}
