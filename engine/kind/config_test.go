package kind

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

func TestConfig(t *testing.T) {
	k := compile(t, map[string]string{"a.yaml": head, "config.yaml": "image: a:1\nreplicas: 2\nlist: [1, a]\nmap: {a: {b: 1.5}}\nempty:\n"})
	want := map[string]any{"image": "a:1", "replicas": int64(2), "list": []any{int64(1), "a"},
		"map": map[string]any{"a": map[string]any{"b": 1.5}}, "empty": nil}
	if diff := cmp.Diff(want, k.Config); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"a-b: 1\n":          "config.yaml:1:1: a-b is no key of a setting: a letter, then letters, digits and _",
		"- a\n":             "config.yaml:1:1: it must be a map of settings by key",
		"a: 1\na: 2\n":      "config.yaml:2:1: a occurs twice: it stands at config.yaml:1:1 already",
		"a: {b: 1, b: 2}\n": "config.yaml:1:11: b occurs twice: it stands at config.yaml:1:5 already",
		"a: &x 1\nb: *x\n":  "config.yaml:1:4: anchors and aliases are not allowed: write the value where it is needed\nconfig.yaml:2:4: anchors and aliases are not allowed: write the value where it is needed",
		"a: [\n":            "config.yaml:1:1: did not find expected node content",
		"# nothing\n":       "",
	} {
		var lines []string
		if want != "" {
			lines = strings.Split(want, "\n")
		}
		refuses(t, map[string]string{"a.yaml": head, "config.yaml": text}, lines...)
	}
	refuses(t, map[string]string{"a.yaml": head + "data: {a: {{ config \"imgae\" }}}\n", "config.yaml": "image: a\n"},
		"a.yaml:5:14: {{ config \"imgae\" }}: config.yaml has no key \"imgae\"; did you mean image?")
}

// TestWithConfigFile: settings override those of config.yaml, and change the digest; the same
// settings give the same digest, wherever they come from.
func TestWithConfigFile(t *testing.T) {
	files := map[string]string{"a.yaml": head, "config.yaml": "image: a\nreplicas: 2\n"}
	k := compile(t, files)
	override := func(k *Kind, text string) (*Kind, error) {
		return k.WithConfigFile(&folder.File{Shown: "case", Data: []byte(text)})
	}
	with, err := override(k, `{"image": "b"}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"image": "b", "replicas": int64(2)}, with.Config); diff != "" {
		t.Error(diff)
	}
	if with.Digest == k.Digest || k.Config["image"] != "a" {
		t.Errorf("digests %s and %s, before it was %v", with.Digest, k.Digest, k.Config)
	}
	settings, err := ReadConfig("c.yaml", []byte("apps.example.com:\n  image: b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if same, err := settings.Apply(k); err != nil || same.Digest != with.Digest {
		t.Errorf("by --config the digest is %s, not %s: %v", same.Digest, with.Digest, err)
	}
	if none, err := override(k, "# none\n"); err != nil || none.Digest != k.Digest {
		t.Errorf("without settings the digest is %s, not %s: %v", none.Digest, k.Digest, err)
	}
	_, err = override(k, "replicas: 1\nimgae: b\n")
	saysLines(t, err, "case:2:1: apps.example.com has no setting imgae; did you mean image?")
	_, err = override(compile(t, map[string]string{"a.yaml": head}), "image: b")
	saysLines(t, err, "case:1:1: apps.example.com has no setting image; its folder has no config.yaml")
}

// TestOverrides: settings that a folder brings take the place of the whole entry in a file.
func TestOverrides(t *testing.T) {
	settings, err := ReadConfig("c.yaml", []byte("apps.example.com: {image: file, replicas: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	crd := compile(t, map[string]string{"a.yaml": head}).CRD
	for text, want := range map[string]string{
		"none":                          "file 3",
		`{"image": "own"}`:              "own 2",
		"image: own\nreplicas: 4 # x\n": "own 4",
		"{}":                            "a 2",
		"":                              "a 2",
		"{imgae: own}":                  "map annotation:1:2: apps.example.com has no setting imgae; did you mean image?",
		"own":                           "map annotation:1:1: it must be a map of settings by key",
		"apps.example.com: {image: b}":  "map annotation:1:1: apps.example.com is no key of a setting: a letter, then letters, digits and _",
	} {
		f, err := folder.FromMap("apps.example.com", "", map[string][]byte{"a.yaml": []byte(head), "config.yaml": []byte("image: a\nreplicas: 2\n")})
		if err != nil {
			t.Fatal(err)
		}
		if text != "none" {
			f.Overrides = &folder.File{Shown: "map annotation", Data: []byte(text)}
		}
		k, err := Compile(f, crd)
		if err == nil {
			k, err = settings.Apply(k)
		}
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(k.Config["image"], " ", k.Config["replicas"])
		}
		if got != want {
			t.Errorf("with %q it is %s, want %s", text, got, want)
		}
	}
}

func TestReadConfig(t *testing.T) {
	k := compile(t, map[string]string{"a.yaml": head, "config.yaml": "image: a\n"})
	for text, want := range map[string]string{
		"apps.example.com: {image: b}\n":  "",
		"":                                "",
		"things.io: {image: b}\n":         "c.yaml:1:1: there is no kind things.io; there are apps.example.com",
		"aps.example.com: {image: b}\n":   "c.yaml:1:1: there is no kind aps.example.com; did you mean apps.example.com?",
		"apps.example.com:\n  imgae: b\n": "c.yaml:2:3: apps.example.com has no setting imgae; did you mean image?",
		"apps.example.com: [a]\n":         "c.yaml:1:19: it must be a map of settings by key",
		"- a\n":                           "c.yaml:1:1: it must be a map of kinds' names, such as apps.example.com, to their settings",
		"apps.example.com: {a: 1}\napps.example.com: {}\n": "c.yaml:2:1: apps.example.com occurs twice: it stands at c.yaml:1:1 already",
	} {
		c, err := ReadConfig("c.yaml", []byte(text))
		with := k
		if err == nil {
			err = c.Check([]string{k.Name})
		}
		if err == nil {
			with, err = c.Apply(k)
		}
		if want != "" {
			saysLines(t, err, want)
			continue
		}
		saysLines(t, err)
		if image := with.Config["image"]; text != "" && image != "b" {
			t.Errorf("image is %v", image)
		}
	}
}
