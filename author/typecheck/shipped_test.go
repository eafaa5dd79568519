package typecheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
	"sigs.k8s.io/yaml"
)

const root = "../../"

// shipped compiles a folder of the repository, without the settings of its
// kind.
func shipped(t testing.TB, name string) Input {
	t.Helper()
	data, err := os.ReadFile(root + "crds/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd, err := crdfile.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	version, err := crd.Version("")
	if err != nil {
		t.Fatal(err)
	}
	in := Input{
		Root: schema.Root(version), Name: crd.Kind + " " + version.Name, Live: schema.BuiltInType, ClusterScoped: !crd.Namespaced,
		Makes: func(file string) []apischema.GroupVersionKind { return madeBy(t, name, file) },
	}
	files, _ := filepath.Glob(root + "templates/" + name + "/*")
	lib, _ := filepath.Glob(root + "templates/_lib/*.tpl")
	var sources []template.Source
	for _, path := range append(files, lib...) {
		base := filepath.Base(path)
		stem, child := strings.CutSuffix(base, ".yaml")
		switch {
		case base == "kind.yaml" || !child && !strings.HasSuffix(base, ".tpl"):
			continue
		case base == "config.yaml":
			data, _ := os.ReadFile(path)
			if err := yaml.Unmarshal(data, &in.Config); err != nil {
				t.Fatal(err)
			}
			continue
		case child:
			in.Files = append(in.Files, stem)
		default:
			stem = base
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, template.Source{Name: stem, File: strings.TrimPrefix(path, root), Text: string(text)})
	}
	in.Set, err = template.Compile(template.Input{Sources: sources, Config: in.Config})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// madeBy reads the literal kinds of a file.
func madeBy(t testing.TB, name, file string) []apischema.GroupVersionKind {
	t.Helper()
	data, err := os.ReadFile(root + "templates/" + name + "/" + file + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []apischema.GroupVersionKind
	version := ""
	for line := range strings.Lines(string(data)) {
		if v, found := strings.CutPrefix(strings.TrimSpace(line), "apiVersion: "); found && line[0] == 'a' {
			version = v
		}
		if k, found := strings.CutPrefix(strings.TrimSpace(line), "kind: "); found && line[0] == 'k' {
			kinds = append(kinds, apischema.FromAPIVersionAndKind(version, k))
		}
	}
	return kinds
}

// TestShipped: nothing is wrong with the kinds of this repository.
func TestShipped(t *testing.T) {
	dirs, err := filepath.Glob(root + "templates/*.*")
	if err != nil || len(dirs) == 0 {
		t.Fatal(dirs, err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := shipped(t, filepath.Base(dir))
			start := time.Now()
			f := Follow(in)
			took := time.Since(start)
			for _, one := range f.Findings {
				t.Errorf("%s [%s]", one.Error(), one.Class)
			}
			for name, ways := range f.Paths {
				docs := 0
				for _, w := range ways {
					docs += len(w.Documents)
				}
				t.Logf("%s: %d ways, %d documents", name, len(ways), docs)
			}
			t.Logf("%v, %d reads", took, len(f.Reads))
		})
	}
}

// BenchmarkFollow follows all kinds of this repository, with documents and
// without.
func BenchmarkFollow(b *testing.B) {
	dirs, _ := filepath.Glob(root + "templates/*.*")
	for _, quick := range []bool{false, true} {
		b.Run(map[bool]string{false: "whole", true: "quick"}[quick], func(b *testing.B) {
			var all []Input
			for _, dir := range dirs {
				in := shipped(b, filepath.Base(dir))
				in.Quick = quick
				all = append(all, in)
			}
			for b.Loop() {
				for _, in := range all {
					Follow(in)
				}
			}
		})
	}
}
