package history

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/test/kit"
	"github.com/jacquard-operator/jacquard/test/memory"
)

// TestUnfitRevisionIsNotServing: a revision that the operator cannot use, since the CRD has
// changed, is not said to serve.
func TestUnfitRevisionIsNotServing(t *testing.T) {
	const running = `{"digest":"another","state":"Running"}`
	for name, c := range map[string]struct{ spec, rollout, serves, trouble string }{
		"it fits":                        {"text", "", "serves all resources", ""},
		"it fits, and another rolls out": {"text", running, "serves what the rollout has not reached", ""},
		"a field is gone":                {"other", "", "is to serve all resources", "does not fit the CRD"},
		"a field is gone in a rollout":   {"other", running, "is to serve what the rollout has not reached", "does not fit the CRD"},
	} {
		t.Run(name, func(t *testing.T) {
			crd := kit.ThingCRD("example.com")
			kept := revisionOf(t, crd)
			s := memory.New(served("", "Namespace", "namespaces"), served("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions"), revision.Resource,
				served("example.com", "Thing", "things"))
			definition := &unstructured.Unstructured{Object: map[string]any{}}
			read(t, strings.ReplaceAll(crd, "text: {type: string", c.spec+": {type: string"), &definition.Object)
			definition.SetAnnotations(map[string]string{"jacquard.dev/operator": "default/jacquard", "jacquard.dev/rolled-out": kept.Digest,
				"jacquard.dev/rollout": c.rollout})
			s.Put(definition)
			for _, o := range kept.Objects("default", "default/jacquard") {
				s.Put(o)
			}
			h := historyOf(t, s)
			if len(h.Revisions) != 1 || h.Revisions[0].Serves != c.serves || (c.trouble == "") != (h.Revisions[0].Trouble == "") ||
				!strings.Contains(h.Revisions[0].Trouble, c.trouble) {
				t.Errorf("got %+v", h.Revisions)
			}
		})
	}
}

func historyOf(t *testing.T, s *memory.Server) *History {
	t.Helper()
	survey, err := liveview.Open(t.Context(), &rest.Config{Host: "http://server", Transport: s}, nil)
	if err != nil {
		t.Fatal(err)
	}
	k, err := survey.Kind(t.Context(), "things.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Look(""); err != nil {
		t.Fatal(err)
	}
	h, err := Of(t.Context(), survey, k, Place{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// revisionOf is what is kept of a folder of Things.
func revisionOf(t *testing.T, crd string) *revision.Revision {
	t.Helper()
	root := t.TempDir()
	kit.Write(t, root, map[string]string{"templates/things.example.com/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n  text: {{ .spec.text }}\n"})
	contents, err := folder.FromDir(root).Read()
	if err != nil {
		t.Fatal(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	read(t, crd, definition)
	parsed, err := schema.FromObject(definition)
	if err != nil {
		t.Fatal(err)
	}
	f := contents.Folders["things.example.com"]
	k, err := kind.Compile(f, parsed)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := revision.Of(k, f)
	if err != nil {
		t.Fatal(err)
	}
	kept.Number = 1
	return kept
}

func read(t *testing.T, crd string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(crd), into); err != nil {
		t.Fatal(err)
	}
}

func served(group, kindName, plural string) live.Resource {
	gv := apischema.GroupVersion{Group: group, Version: "v1"}
	return live.Resource{GVR: gv.WithResource(plural), GVK: gv.WithKind(kindName)}
}
