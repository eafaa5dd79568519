package reconcile

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

const aMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {text: {{ .spec.name }}}\n"

// manyFiles are so many files of a folder, each with one ConfigMap.
func manyFiles(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("f%d.yaml", i)] = fmt.Sprintf(aMap, fmt.Sprintf("m%d", i))
	}
	return all
}

// BenchmarkLarge tells how much longer four times as much takes: a reconciliation
// that finds nothing to do, and loading a folder. Four is linear.
func BenchmarkLarge(b *testing.B) {
	atRest := func(files func(n int) map[string]string, spec func(n int) any) func(b *testing.B, n int) func() {
		return func(b *testing.B, n int) func() {
			w := newWorld(b, files(n))
			w.edit(func(o *unstructured.Unstructured) { o.Object["spec"] = map[string]any{"name": "x", "items": spec(n)} })
			w.settle()
			return func() {
				if sent := w.turn(); len(sent) > 0 {
					b.Fatalf("it is not at rest, and sends %v", sent)
				}
			}
		}
	}
	none := func(int) any { return []any{} }
	cases := []struct {
		name string
		n    int
		make func(b *testing.B, n int) func()
	}{
		{"500_children_of_one_file", 125, atRest(func(n int) map[string]string {
			return map[string]string{"m.yaml": fmt.Sprintf("{{ range $i := until %d }}\n---\n", n) +
				strings.NewReplacer("%s", "m{{ $i }}", ".spec", "$.spec").Replace(aMap) + "{{ end }}"}
		}, none)},
		{"200_files", 50, atRest(manyFiles, none)},
		{"list_of_10000_items", 2500, atRest(func(int) map[string]string {
			return map[string]string{"m.yaml": fmt.Sprintf(aMap, "m") + "  {{- range .spec.items }}\n  {{ .name }}: {{ .size | quote }}\n  {{- end }}\n"}
		}, func(n int) any {
			items := make([]any, n)
			for i := range items {
				items[i] = map[string]any{"name": fmt.Sprint("i", i), "size": int64(i)}
			}
			return items
		})},
		{"load_200_files", 50, func(b *testing.B, n int) func() { return compiles(b, manyFiles(n), 0) }},
		{"load_CRD_of_1_MB", 256 << 10, func(b *testing.B, n int) func() { return compiles(b, manyFiles(1), n) }},
	}
	for _, thing := range cases {
		b.Run(thing.name, func(b *testing.B) {
			some, more := thing.make(b, thing.n), thing.make(b, 4*thing.n)
			var took [2]time.Duration
			for b.Loop() {
				for i, do := range []func(){some, more} {
					began := time.Now()
					do()
					took[i] += time.Since(began)
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[0]), "time(4N)/time(N)")
		})
	}
}

// compiles loads a folder, and a CRD of about so many bytes.
func compiles(b *testing.B, files map[string]string, size int) func() {
	const first = "              name: {type: string}\n"
	crd, err := os.ReadFile("../render/testdata/" + things + ".yaml")
	before, after, found := strings.Cut(string(crd), first)
	if err != nil || !found {
		b.Fatalf("%s has no line %q: %v", things, first, err)
	}
	var text strings.Builder
	text.WriteString(before + first)
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, "              p%d:\n                type: object\n                description: One of many.\n                properties:\n", i)
		for _, field := range []string{"a", "b", "c", "d"} {
			fmt.Fprintf(&text, "                  %s: {type: integer, minimum: 1, description: A number.}\n", field)
		}
	}
	text.WriteString(after)
	data := map[string][]byte{}
	for name, file := range files {
		data[name] = []byte(file)
	}
	return func() {
		crd, err := crdfile.Parse(things+".yaml", []byte(text.String()))
		if err != nil {
			b.Fatal(err)
		}
		f, err := folder.FromMap(things, "", data)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := kind.Compile(f, crd); err != nil {
			b.Fatal(err)
		}
	}
}
