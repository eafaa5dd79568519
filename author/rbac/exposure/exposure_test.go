package exposure

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

var update = flag.Bool("update", false, "write what came out as what is wanted")

// TestOf: each file of testdata is a CRD, crd.yaml, a folder, and what the
// fields reach, want.txt.
func TestOf(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	if len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			k, files, want := compile(t, archive)
			got := ""
			fields, err := Of(k, schema.BuiltInType)
			if err != nil {
				got = err.Error() + "\n"
			}
			for _, field := range fields {
				got += field.Path + "\n"
				for _, r := range field.Reaches {
					part := ""
					if r.Part {
						part = " (a part)"
					}
					got += fmt.Sprintf("  %s: %s %s %s%s %s\n", r.Risk, r.APIVersion, r.Kind, r.Path, part, r.Place)
				}
			}
			if *update {
				archive.Files = append(files, txtar.File{Name: "want.txt", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func compile(t *testing.T, archive *txtar.Archive) (k *kind.Kind, files []txtar.File, want string) {
	t.Helper()
	var crd *schema.CRD
	data := map[string][]byte{}
	for _, f := range archive.Files {
		if f.Name == "want.txt" {
			want = string(f.Data)
			continue
		}
		files = append(files, f)
		if f.Name != "crd.yaml" {
			data[f.Name] = f.Data
			continue
		}
		var err error
		if crd, err = crdfile.Parse("crds/webs.example.com.yaml", f.Data); err != nil {
			t.Fatal(err)
		}
	}
	f, err := folder.FromMap("webs.example.com", "folder", data)
	if err != nil {
		t.Fatal(err)
	}
	if k, err = kind.Compile(f, crd); err != nil {
		t.Fatal(err)
	}
	return k, files, want
}
