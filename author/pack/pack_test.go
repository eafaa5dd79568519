package pack_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/pack"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

const crdText = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.GROUP}
spec:
  group: GROUP
  names: {kind: Web, plural: webs, singular: web}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
`

// input is a kind whose folder has these files; those that begin with _lib/ lie
// in templates/_lib.
func input(t *testing.T, group string, files map[string]string) pack.Input {
	t.Helper()
	name := "webs." + group
	all := fstest.MapFS{"crds/" + name + ".yaml": {Data: []byte(strings.ReplaceAll(crdText, "GROUP", group))}}
	for file, text := range files {
		at := "templates/" + name + "/" + file
		if strings.HasPrefix(file, folder.LibName+"/") {
			at = "templates/" + file
		}
		all[at] = &fstest.MapFile{Data: []byte(text)}
	}
	contents, err := folder.FromFS(all, "").Read()
	if err != nil {
		t.Fatal(err)
	}
	if err := contents.Broken[name]; err != nil {
		t.Fatal(err)
	}
	return pack.Input{Kind: compile(t, contents.Folders[name], contents.CRDs[0]), Folder: contents.Folders[name], CRD: contents.CRDs[0]}
}

func compile(t *testing.T, f *folder.Folder, file folder.File) *kind.Kind {
	t.Helper()
	crd, err := crdfile.Parse(file.Shown, file.Data)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kind.Compile(f, crd)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// packed are the documents of a kind.
func packed(t *testing.T, in pack.Input, parts ...string) []string {
	t.Helper()
	var first, again bytes.Buffer
	for _, to := range []*bytes.Buffer{&first, &again} {
		if err := pack.Write(to, in, pack.Install{Namespace: "home", Name: "release"}, parts); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != again.String() {
		t.Error("it is packed another way each time")
	}
	text, found := strings.CutPrefix(first.String(), "---\n")
	if !found {
		t.Errorf("it begins with %.20q", first.String())
	}
	return strings.Split(text, "\n---\n")
}

// configMaps are the ConfigMaps of a kind.
func configMaps(t *testing.T, in pack.Input) []corev1.ConfigMap {
	t.Helper()
	var all []corev1.ConfigMap
	for _, text := range packed(t, in, pack.Folder) {
		var m corev1.ConfigMap
		if err := yaml.UnmarshalStrict([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

const config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n"

// TestSame: what comes out of the ConfigMaps is the very folder that went in,
// however many there are, and changes with each file.
func TestSame(t *testing.T) {
	odd := "tab\there\r\n trailing \n\n# ---\n--- \n: {{ \"é\" }} \u2028\ufeff\u0085\u0092\x7f yes\n\n\n"
	for name, files := range map[string]map[string]string{
		"small":  {"map.yaml": config},
		"no end": {"map.yaml": strings.TrimSuffix(config, "\n")},
		"all": {"map.yaml": config + "data:\n  a: {{ include \"a\" . }}\n", "status.yaml": "a: b\n", "config.yaml": "a: 1\n",
			"_a.tpl": "{{ define \"a\" }}a{{ end }}", "files/odd": odd, "files/zero": "a\x00b", "files/empty": ""},
		"lib": {"map.yaml": config + "data:\n  a: {{ include \"a\" . }}\n",
			"_lib/_own.tpl": "{{ define \"a\" }}{{ include \"b\" . }}{{ end }}", "_own.tpl": "{{ define \"b\" }}b{{ end }}",
			"_lib/other.tpl": "{{ define \"c\" }}c{{ end }}"},
		"health": {"map.yaml": config, "thing.yaml": things,
			"kind.yaml":        "healthCheckExprs:\n- {apiVersion: other.example.org/v1, current: has(status.b)}\n",
			"_lib/health.yaml": "# for all\nhealthCheckExprs:\n- apiVersion: \"*.example.org/*\"\n  current: >-\n    has(status.a)\n    && status.a\n"},
		"computed": {"map.yaml": config + "data:\n  a: {{ include (print \"a\" .metadata.name) . }}\n",
			"_lib/a.tpl": "{{ define \"a\" }}{{ end }}", "_lib/b.tpl": "{{ define \"b\" }}{{ end }}"},
		"large": {"map.yaml": config, "files/a": strings.Repeat("a\"<\n", 50_000), "files/b": strings.Repeat("b", 150_000),
			"files/c": strings.Repeat("c", 100_000), "files/d": strings.Repeat("d", folder.MaxFile)},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, "example.com", files)
			all := configMaps(t, in)
			again := folder.OfConfigMaps(all)[in.Kind.Name]
			if again == nil {
				t.Fatal("no folder comes out")
			}
			k := compile(t, again, in.CRD)
			if k.Digest != in.Kind.Digest {
				t.Errorf("it comes out as %s and went in as %s", k.Digest, in.Kind.Digest)
			}
			for _, f := range in.Folder.Files {
				i := slices.IndexFunc(again.Files, func(o folder.File) bool { return o.Name == f.Name })
				if i < 0 || !bytes.Equal(again.Files[i].Data, f.Data) {
					t.Errorf("%s is not the same", f.Name)
				}
			}
			files["map.yaml"] += "immutable: true\n"
			if changed := input(t, "example.com", files); changed.Kind.Digest == k.Digest {
				t.Error("another folder has the same digest")
			}
		})
	}
}

// TestSettings: settings of the installation are on the first ConfigMap, and come out as the
// same kind. The parts are of the same state, so that changed settings count at once.
func TestSettings(t *testing.T) {
	in := input(t, "example.com", map[string]string{"map.yaml": config, "config.yaml": "registry: a\nsize: 1\nother: <b>\n",
		"files/a": strings.Repeat("a", 150_000), "files/b": strings.Repeat("b", 150_000)})
	plain := configMaps(t, in)
	settings, err := kind.ReadConfig("c.yaml", []byte("webs.example.com: {registry: \"yes\", size: 9007199254740993, other: \"<é\\n>\"}"))
	if err != nil {
		t.Fatal(err)
	}
	if in.Kind, err = settings.Apply(in.Kind); err != nil {
		t.Fatal(err)
	}
	all := configMaps(t, in)
	if len(all) != 2 || all[0].Annotations["jacquard.dev/part"] != plain[0].Annotations["jacquard.dev/part"] ||
		all[1].Annotations["jacquard.dev/config"] != "" {
		t.Errorf("the annotations of %d parts are %v and, without settings, %v", len(all), all[0].Annotations, plain[0].Annotations)
	}
	if k := compile(t, folder.OfConfigMaps(all)["webs.example.com"], in.CRD); k.Digest != in.Kind.Digest || k.Config["registry"] != "yes" {
		t.Errorf("it comes out as %s with %v and went in as %s with %v", k.Digest, k.Config, in.Kind.Digest, in.Kind.Config)
	}
}

// TestPartials: what the folder does not call of templates/_lib is no part of
// it; what it calls is.
func TestPartials(t *testing.T) {
	with := func(called, other string) pack.Input {
		return input(t, "example.com", map[string]string{
			"map.yaml":      config + "data:\n  a: {{ include \"a\" . }}\n",
			"_lib/a.tpl":    "{{ define \"a\" }}" + called + "{{ end }}",
			"_lib/noop.tpl": "{{ define \"noop\" }}" + other + "{{ end }}",
		})
	}
	before := with("a", "b")
	m := configMaps(t, before)[0]
	if keys := slices.Sorted(maps.Keys(m.Data)); !slices.Equal(keys, []string{"_lib-a.tpl", "map.yaml"}) {
		t.Errorf("it holds %v", keys)
	}
	if with("a", "c").Kind.Digest != before.Kind.Digest {
		t.Error("a partial that is not called changes the folder")
	}
	if with("c", "b").Kind.Digest == before.Kind.Digest {
		t.Error("a partial that is called does not change the folder")
	}
}

const things = "apiVersion: things.example.org/v1\nkind: Thing\nmetadata:\n  name: {{ .metadata.name }}\n"

// TestHealth: of the root's health expressions, those for kinds that the folder renders
// are packed, and no others change the folder.
func TestHealth(t *testing.T) {
	with := func(used, other string) pack.Input {
		return input(t, "example.com", map[string]string{"thing.yaml": things, "_lib/health.yaml": "healthCheckExprs:\n" +
			"- {apiVersion: other.example.org/v1, current: has(status." + other + ")}\n" +
			"- {apiVersion: things.example.org/v1, current: has(status." + used + ")}\n"})
	}
	before := with("a", "b")
	if got := configMaps(t, before)[0].Data["_lib-health.yaml"]; !strings.Contains(got, "things.example.org") || strings.Contains(got, "other") {
		t.Errorf("packed are\n%s", got)
	}
	if with("a", "c").Kind.Digest != before.Kind.Digest {
		t.Error("an expression for another kind changes the folder")
	}
	if with("c", "b").Kind.Digest == before.Kind.Digest {
		t.Error("an expression for a kind of the folder does not change it")
	}
}

// TestSizes: each ConfigMap is small enough for kubectl apply, which keeps it in
// an annotation, unless one file alone is larger; and all names are valid.
func TestSizes(t *testing.T) {
	files := map[string]string{"map.yaml": config}
	for i := range 40 {
		files[fmt.Sprintf("files/%02d", i)] = strings.Repeat("\"\n<é", 5000)
	}
	for _, group := range []string{"example.com", strings.Repeat("long.", 12) + "com",
		strings.TrimSuffix(strings.Repeat(strings.Repeat("a", 60)+".", 4), ".")} {
		in := input(t, group, files)
		all := configMaps(t, in)
		if len(all) < 4 || folder.OfConfigMaps(all)[in.Kind.Name] == nil {
			t.Errorf("%d ConfigMaps, and the folder is not in them", len(all))
		}
		seen := map[string]bool{}
		for _, m := range all {
			text, err := json.Marshal(m)
			if err != nil || len(text) > 256<<10 {
				t.Errorf("%s has %d bytes, %v", m.Name, len(text), err)
			}
			wrong := append(validation.IsDNS1123Subdomain(m.Name), validation.IsValidLabelValue(m.Labels["jacquard.dev/kind"])...)
			if len(wrong) > 0 || seen[m.Name] {
				t.Errorf("%s: %v", m.Name, wrong)
			}
			seen[m.Name] = true
		}
	}
	if one := configMaps(t, input(t, "example.com", map[string]string{"map.yaml": config})); one[0].Name != configMaps(t,
		input(t, "example.com", files))[0].Name {
		t.Error("the first part is named another way than the only one: the operator would take it for another source")
	}
}

// TestRefused: what would come out as another folder.
func TestRefused(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"packing webs.example.com: files--a b cannot be a key of a ConfigMap: rename the file, with letters, digits, -, _ and . only": {"map.yaml": config, "files/a b": ""},
		"packing webs.example.com: two files would be called _lib-a.tpl: rename one":                                                  {"map.yaml": config + "data:\n  a: {{ include \"a\" . }}{{ include \"b\" . }}\n", "_lib/a.tpl": "{{ define \"a\" }}a{{ end }}", "_lib-a.tpl": "{{ define \"b\" }}b{{ end }}"},
		"packing webs.example.com: it would not come out as the same folder: rename files that begin with files--":                    {"files--map.yaml": config},
	} {
		err := pack.Write(&bytes.Buffer{}, input(t, "example.com", files), pack.Install{Namespace: "home", Name: "release"}, pack.Parts)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestOrder: the rights come first and the folder last.
func TestOrder(t *testing.T) {
	var kinds []string
	for _, text := range packed(t, input(t, "example.com", map[string]string{"map.yaml": config}), pack.Folder, pack.CRD, pack.Users,
		pack.Roles) {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, o.Kind+" "+o.Metadata.Name)
	}
	want := []string{
		"ClusterRole release:webs.example.com:cluster", "ClusterRole release:webs.example.com",
		"ClusterRole jacquard:webs.example.com:view", "ClusterRole jacquard:webs.example.com:edit", "ClusterRole jacquard:webs.example.com:admin",
		"CustomResourceDefinition webs.example.com", "ConfigMap jacquard-webs.example.com",
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("got %v", kinds)
	}
}
