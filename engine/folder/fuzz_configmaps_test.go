package folder

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzFolders: whatever stands in ConfigMaps, their order is all the same, each
// comes from somewhere, and what has an error has no folder.
func FuzzFolders(f *testing.F) {
	f.Add("k", "1/2 x", "a.yaml", "a: 1", "2/2 x", "b.yaml", []byte("b: 1"))
	f.Add("k", "", "a.yaml", "{{", "", "a.yaml", []byte("b: 1"))
	f.Add("k", "3/2000000000", "_h.tpl", "", "x", "files--y", []byte{0, 255})
	f.Add("", "1/1", "kind.yaml", "a: 1", "1/1", "status.yaml", []byte("\r\n"))
	for _, files := range [][2]string{{"a.yaml", "b.yaml"}, {"_h.tpl", "a.yaml"}, {"kind.yaml", "status.yaml"}, {"files--a", "files--b.txt"},
		{"config.yaml", "c.yaml"}} {
		f.Add("webs.example.com", "", files[0], "a: 1\n", "", files[1], []byte("b: {{ .c }}\n"))
		f.Add("k", "1/2 x", files[0], "a: 1\n", "2/2 x", files[1], []byte("b"))
	}
	read := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, kind, part, file, text, otherPart, otherFile string, data []byte) {
		one, other := configMap("a", kind, part, file), configMap("b", kind, otherPart, otherFile)
		one.Data[file] = text
		other.BinaryData = map[string][]byte{otherFile: data}
		maps := []corev1.ConfigMap{one, other}
		got := FromConfigMaps(maps)
		slices.Reverse(maps)
		again := FromConfigMaps(maps)
		if len(got) != len(again) || len(got) == 0 || len(got) > 2 {
			t.Fatalf("%d and %d sources", len(got), len(again))
		}
		for i, o := range got {
			p := again[i]
			if o.Kind != p.Kind || o.Shown != p.Shown || o.Partial != p.Partial || (o.Err == nil) != (p.Err == nil) || o.Err != nil &&
				o.Err.Error() != p.Err.Error() {
				t.Fatalf("in another order %v is %v", o, p)
			}
			if o.Err != nil {
				continue
			}
			if read(); o.Folder == nil || o.Partial || o.Folder.Digest != p.Folder.Digest {
				t.Fatalf("%v is a folder without an error, and %v", o, p)
			}
			for _, file := range slices.Concat(o.Folder.Children, o.Folder.Partials, o.Folder.Files) {
				if file.Name == "" {
					t.Fatalf("%v has a file without a name", o)
				}
			}
		}
	})
}
