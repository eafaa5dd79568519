package folder

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
)

func configMap(name, kind, part, file string) corev1.ConfigMap {
	m := corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: name, Labels: map[string]string{api.LabelKind: kind},
			Annotations: map[string]string{}},
		Data: map[string]string{file: "a: 1\n"},
	}
	if part != "" {
		m.Annotations[api.AnnotationPart] = part
	}
	return m
}

// TestFromConfigMaps: which ConfigMaps make which folders.
func TestFromConfigMaps(t *testing.T) {
	long := configMap("long", "short", "", "a.yaml")
	long.Annotations[api.AnnotationKind] = "long.example.com"
	for _, tt := range []struct {
		name string
		maps []corev1.ConfigMap
		want string // kind, place, and what is wrong, of each
	}{
		{"none", nil, ""},
		{"one", []corev1.ConfigMap{configMap("a", "k", "", "a.yaml")}, "k home/a"},
		{"a long name", []corev1.ConfigMap{long}, "long.example.com home/long"},
		{"two of one kind", []corev1.ConfigMap{configMap("b", "k", "", "a.yaml"), configMap("a", "k", "", "a.yaml")}, "k home/a; k home/b"},
		{"two parts", []corev1.ConfigMap{configMap("b", "k", "1/2", "a.yaml"), configMap("a", "k", "2/2", "b.yaml")}, "k home/a"},
		{"two parts of one state", []corev1.ConfigMap{configMap("a", "k", "1/2 x y", "a.yaml"), configMap("b", "k", "2/2 x y", "b.yaml")},
			"k home/a"},
		{"an old and a new part", []corev1.ConfigMap{configMap("a", "k", "1/2 new", "a.yaml"), configMap("b", "k", "2/2 old", "b.yaml")},
			`k home/a partial: parts of different states of the folder: "new" and "old"`},
		{"a part without state", []corev1.ConfigMap{configMap("a", "k", "1/2", "a.yaml"), configMap("b", "k", "2/2 new", "b.yaml")},
			"k home/a partial: parts of different states of the folder"},
		{"of very many", []corev1.ConfigMap{configMap("a", "k", "3/2000000000", "a.yaml")},
			"k home/a partial: 1999999994 more parts are not there"},
		{"one part", []corev1.ConfigMap{configMap("a", "k", "2/2", "a.yaml")}, "k home/a partial: part 1 of 2 is not there"},
		{"parts of other sets", []corev1.ConfigMap{configMap("a", "k", "1/1", "a.yaml"), configMap("b", "k", "2/2", "a.yaml")},
			"k home/a; k home/b partial: part 1 of 2 is not there"},
		{"a part twice", []corev1.ConfigMap{configMap("a", "k", "1/1", "a.yaml"), configMap("b", "k", "1/1", "b.yaml")},
			"k home/a: say both that they are part 1 of 1"},
		{"a file twice", []corev1.ConfigMap{configMap("a", "k", "1/2", "a.yaml"), configMap("b", "k", "2/2", "a.yaml")},
			"k home/a: the file is in two parts"},
		{"no part", []corev1.ConfigMap{configMap("a", "k", "3/2", "a.yaml")}, "k home/a: must say which part it is"},
		{"no file of a folder", []corev1.ConfigMap{configMap("a", "k", "", "a.txt")}, "k home/a: a folder holds"},
	} {
		got := FromConfigMaps(tt.maps)
		var wants []string
		if tt.want != "" {
			wants = strings.Split(tt.want, "; ")
		}
		if len(got) != len(wants) {
			t.Errorf("%s: %d folders, want %d", tt.name, len(got), len(wants))
			continue
		}
		for i, o := range got {
			place, wrong, _ := strings.Cut(wants[i], ": ")
			place, partial := strings.CutSuffix(place, " partial")
			if o.Kind+" "+strings.TrimPrefix(o.Shown, "configmap ") != place || o.Partial != partial || (o.Err == nil) != (wrong == "") ||
				o.Err != nil && !strings.Contains(o.Err.Error(), wrong) || o.Err == nil && o.Folder == nil {
				t.Errorf("%s: %s %s %v %v, want %s", tt.name, o.Kind, o.Shown, o.Partial, o.Err, wants[i])
			}
		}
	}
}

// TestOverridesFromConfigMaps: settings come from the annotation of the first part. They make
// another folder, and are none of its files.
func TestOverridesFromConfigMaps(t *testing.T) {
	with := func(m corev1.ConfigMap, settings string) corev1.ConfigMap {
		m.Annotations[api.AnnotationConfig] = settings
		return m
	}
	first, second := configMap("b", "k", "1/2 x", "a.yaml"), configMap("a", "k", "2/2 x", "b.yaml")
	plain := OfConfigMaps([]corev1.ConfigMap{first, second})["k"]
	first = with(configMap("b", "k", "1/2 x", "a.yaml"), "a: 1\r\n")
	got := OfConfigMaps([]corev1.ConfigMap{first, second})["k"]
	if got == nil || got.Overrides == nil || string(got.Overrides.Data) != "a: 1\n" ||
		got.Overrides.Shown != "configmap home/b annotation jacquard.dev/config" {
		t.Fatalf("the settings are %+v", got)
	}
	called := func(File) bool { return true }
	if got.Digest == plain.Digest || got.Sum(called, nil) != plain.Sum(called, nil) || len(got.All()) != 2 {
		t.Errorf("digests %s and %s, sums %s and %s, files %v", plain.Digest, got.Digest, plain.Sum(called, nil), got.Sum(called, nil), got.All())
	}
	wrong := FromConfigMaps([]corev1.ConfigMap{first, with(second, "a: 1")})[0].Err
	want := "configmap home/a annotation jacquard.dev/config: it is part 2 of the folder, and settings stand on part 1: move the annotation there"
	if wrong == nil || wrong.Error() != want {
		t.Errorf("settings on the second part: %v", wrong)
	}
	if empty := OfConfigMaps([]corev1.ConfigMap{with(configMap("a", "k", "", "a.yaml"), "")})["k"]; empty == nil || empty.Overrides == nil {
		t.Errorf("an empty annotation: %+v", empty)
	}
}
