//go:build !operator

package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// TestKindsAreNamedAsKubectlNamesThem: a kind has many names, and a word that is
// none, or that of several, is told.
func TestKindsAreNamedAsKubectlNamesThem(t *testing.T) {
	crd := func(kind, plural string, short ...string) *schema.CRD {
		object := &apiextensionsv1.CustomResourceDefinition{}
		object.Spec.Names.ShortNames = short
		return &schema.CRD{Kind: kind, Plural: plural, Singular: strings.ToLower(kind), Object: object}
	}
	crds := map[string]*schema.CRD{
		"apps.a.io": crd("App", "apps"), "apps.b.io": crd("App", "apps", "b"), "websites.c.io": crd("WebSite", "websites", "ws"),
	}
	known := []string{"apps.a.io", "apps.b.io", "broken.d.io", "websites.c.io"}
	for word, want := range map[string]string{
		"": "apps.a.io apps.b.io broken.d.io websites.c.io", "apps.a.io": "apps.a.io", "b": "apps.b.io",
		"WebSite": "websites.c.io", "website": "websites.c.io", "ws": "websites.c.io", "ws websites": "websites.c.io",
		"templates/websites.c.io/": "websites.c.io", "crds/websites.c.io.yaml": "websites.c.io", "broken.d.io": "broken.d.io",
		"app":     "the kind app may be apps.a.io, apps.b.io; give one of these names",
		"websit":  "there is no kind websit; did you mean websites.c.io?",
		"aps.a":   "there is no kind aps.a; known are: apps.a.io, apps.b.io, broken.d.io, websites.c.io",
		"nothing": "there is no kind nothing; known are: apps.a.io, apps.b.io, broken.d.io, websites.c.io",
	} {
		names, err := resolveWords(strings.Fields(word), known, crds)
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", word, diff)
		}
	}
}

// TestNoSummaryOfNothing: who names a kind that there is not learns only that.
func TestNoSummaryOfNothing(t *testing.T) {
	for _, command := range []string{"test", "lint", "rbac", "schemas"} {
		var out, trouble bytes.Buffer
		if code := Main([]string{command, "--root", "..", "aps"}, nil, &out, &trouble); code != 1 || out.Len() > 0 {
			t.Errorf("jacquard %s aps: exit %d, printed %q", command, code, out.String())
		}
		if want := "did you mean apps.app.huolala.cn?"; !strings.Contains(trouble.String(), want) {
			t.Errorf("jacquard %s aps says %q, not %q", command, trouble.String(), want)
		}
	}
}
