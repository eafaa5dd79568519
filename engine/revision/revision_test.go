package revision

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: App, plural: apps, singular: app, listKind: AppList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {image: {type: string}}}}}
`

const dir = "templates/apps.example.com/"

// whole is a root with all that a folder can consist of.
func whole() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		dir + "map.yaml": file("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n  labels:\n" +
			"    {{- include \"shared\" . | nindent 4 }}\n    {{- include \"own\" . | nindent 4 }}\n" +
			"data:\n  text: {{ file \"motd\" | quote }}\n  key: {{ config \"key\" | quote }}\n"),
		dir + "_own.tpl":             file("{{ define \"own\" }}own: \"true\"{{ end }}"),
		dir + "kind.yaml":            file("apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\n"),
		dir + "config.yaml":          file("key: value\n"),
		dir + "files/motd":           file("hello"),
		"templates/_lib/_own.tpl":    file("{{ define \"shared\" }}shared: \"true\"{{ end }}"),
		"templates/_lib/_unused.tpl": file("{{ define \"unused\" }}{{ end }}"),
		"templates/_lib/health.yaml": file("healthCheckExprs:\n- {apiVersion: v1, kind: ConfigMap, current: has(data.text)}\n" +
			"- {apiVersion: example.org/v1, current: has(status.a)}\n"),
	}
}

func crd(t *testing.T, text string) *schema.CRD {
	t.Helper()
	c, err := crdfile.Parse("crd.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// made is a revision of a root's folder, and its kind.
func made(t *testing.T, root fstest.MapFS, settings string) (*Revision, *kind.Kind) {
	t.Helper()
	contents, err := folder.FromFS(root, "").Read()
	if err != nil {
		t.Fatal(err)
	}
	f := contents.Folders["apps.example.com"]
	if f == nil {
		t.Fatal(contents.Broken)
	}
	c, err := kind.ReadConfig("settings", []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return makeRevision(t, f, c)
}

// makeRevision returns the revision of a folder that is served with settings, and its kind.
func makeRevision(t *testing.T, f *folder.Folder, settings *kind.Config) (*Revision, *kind.Kind) {
	t.Helper()
	k, err := kind.Compile(f, crd(t, definition))
	if err == nil {
		k, err = settings.Apply(k)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := Of(k, f)
	if err != nil {
		t.Fatal(err)
	}
	return r, k
}

// TestBroughtSettings: a revision holds the settings that the folder brings as it holds those
// of a file, so that nothing is stored again where they move from one to the other.
func TestBroughtSettings(t *testing.T) {
	byFile, _ := made(t, whole(), "apps.example.com: {key: other}")
	contents, err := folder.FromFS(whole(), "").Read()
	if err != nil {
		t.Fatal(err)
	}
	f := contents.Folders["apps.example.com"]
	f.Overrides = &folder.File{Shown: "annotation", Data: []byte("{key: other}")}
	brought, k := makeRevision(t, f, nil)
	if brought.Digest != byFile.Digest || !brought.Holds(byFile) {
		t.Errorf("brought by the folder they are revision %s, by a file %s", brought.Digest, byFile.Digest)
	}
	again, err := Read(stored(t, brought))[0].Compile(crd(t, definition))
	if err != nil || again.Digest != k.Digest || again.Config["key"] != "other" {
		t.Errorf("the revision is %+v, %v", again, err)
	}
}

// stored is a revision as the API server has it.
func stored(t *testing.T, r *Revision) []appsv1.ControllerRevision {
	t.Helper()
	all := typed(t, r.Objects("home", "home/jacquard"))
	for i := range all {
		all[i].CreationTimestamp = metav1.Time{Time: time.Unix(1, 0)}
	}
	return all
}

// TestAgain: what is stored compiles to the same kind, in one part or many, with
// settings and without; partials that are not called are left out.
func TestAgain(t *testing.T) {
	before := partSize
	defer func() { partSize = before }()
	for _, size := range []int{before, 100} {
		for _, settings := range []string{"", "apps.example.com: {key: other}"} {
			partSize = size
			r, k := made(t, whole(), settings)
			r.Number = 7
			items := stored(t, r)
			if one := size == before; one != (len(items) == 1) {
				t.Errorf("%d bytes in a part: %d parts", size, len(items))
			}
			all := Read(append(items[1:], items[0])) // in any order
			if len(all) != 1 || all[0].Number != 7 || all[0].Digest != Cut(k.Digest) || !all[0].Holds(r) || len(all[0].Stored()) != len(items) {
				t.Fatalf("read: %+v", all)
			}
			again, err := all[0].Compile(crd(t, definition))
			if err != nil {
				t.Fatal(err)
			}
			if again.Digest != k.Digest || fmt.Sprint(again.Config) != fmt.Sprint(k.Config) {
				t.Errorf("%s %v, want %s %v", again.Digest, again.Config, k.Digest, k.Config)
			}
			if f, _, err := all[0].Folder(); err != nil || len(f.Partials) != 2 {
				t.Errorf("%d partials, %v", len(f.Partials), err)
			}
			if entries := again.HealthEntries; len(entries) != 1 || entries[0].Kind != "ConfigMap" {
				t.Errorf("health expressions: %v", entries)
			}
		}
	}
}

// TestRefused: what is not as it was stored is not used.
func TestRefused(t *testing.T) {
	before := partSize
	defer func() { partSize = before }()
	partSize = 200
	r, _ := made(t, whole(), "")
	other := whole()
	other[dir+"map.yaml"].Data = append(other[dir+"map.yaml"].Data, "  more: x\n"...)
	changed, _ := made(t, other, "")
	changed.Digest = r.Digest
	bomb := *r
	bomb.archive = zeros(t)
	for want, items := range map[string][]appsv1.ControllerRevision{
		"so somebody changed it":        stored(t, changed),
		"and 2 are there":               stored(t, r)[1:3],
		"reading its archive":           {withData(stored(t, r), `{"zip":"aGVsbG8="}`)},
		"reading ControllerRevision":    {withData(stored(t, r), `[1]`)},
		"bytes; at most":                stored(t, &bomb),
		"it holds no folder of this ki": stored(t, &Revision{Kind: r.Kind, Digest: r.Digest, archive: empty(t)}),
	} {
		_, err := Read(items)[0].Compile(crd(t, definition))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	narrow := crd(t, strings.Replace(definition, "properties: {image: {type: string}}", "properties: {other: {type: string}}", 1))
	reads := whole()
	reads[dir+"map.yaml"].Data = append(reads[dir+"map.yaml"].Data, "  image: {{ .spec.image | quote }}\n"...)
	partSize = before
	r, _ = made(t, reads, "")
	if _, err := Read(stored(t, r))[0].Compile(narrow); err == nil || !strings.Contains(err.Error(), "does not fit the CRD") {
		t.Errorf("a CRD without its field: %v", err)
	}
}

// withData is the only part of a revision, with other data.
func withData(items []appsv1.ControllerRevision, text string) appsv1.ControllerRevision {
	one := items[0]
	one.Annotations["jacquard.dev/part"] = "1/1"
	one.Data.Raw = []byte(text)
	return one
}

func empty(t *testing.T) []byte {
	t.Helper()
	archive, err := packFiles(nil)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// zeros is a small archive of more than may be read.
func zeros(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	to, err := w.Create(dir + "map.yaml")
	if err == nil {
		_, err = to.Write(make([]byte, mostBytes+1))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSuperfluous: of what nobody uses the last ten stay.
func TestSuperfluous(t *testing.T) {
	var all []*Revision
	for i := range 15 {
		all = append(all, &Revision{Digest: fmt.Sprint("d", i), Number: int64(i)})
	}
	var got []string
	for _, r := range Superfluous(all, map[string]bool{"d0": true, "d14": true}) {
		got = append(got, r.Digest)
	}
	if fmt.Sprint(got) != "[d3 d2 d1]" {
		t.Errorf("superfluous are %v", got)
	}
}

// TestLongNames: the name of a kind may be longer than the value of a label.
func TestLongNames(t *testing.T) {
	r := &Revision{Kind: strings.Repeat("long.", 40) + "com", Digest: "d", archive: []byte("x")}
	o := r.Objects("home", "home/jacquard")[0]
	if n := len(o.GetLabels()["jacquard.dev/kind"]); n > 63 || o.GetAnnotations()["jacquard.dev/kind"] != r.Kind {
		t.Errorf("%d bytes; %v", n, o.GetAnnotations())
	}
	if !strings.Contains(Selector("home/jacquard", r.Kind), "jacquard.dev/kind="+o.GetLabels()["jacquard.dev/kind"]) {
		t.Errorf("%s does not select it", Selector("home/jacquard", r.Kind))
	}
}
