package kinds

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/engine/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/render"
)

// seed is UNSEEN_SEED or a new one.
func seed(t testing.TB) uint64 {
	t.Helper()
	n := rand.Uint64N(1_000_000)
	if given := os.Getenv("UNSEEN_SEED"); given != "" {
		var err error
		if n, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("UNSEEN_SEED=%d", n)
	return n
}

// A nowhere is a cluster with nothing in it.
type nowhere struct{}

func (nowhere) HasAPI(string, string) (bool, error) { return false, nil }
func (nowhere) Children(string) ([]any, error)      { return nil, nil }

// TestMadeUpKindsRender renders many made-up kinds without a cluster: each
// folder compiles, each resource is valid, and every file renders.
func TestMadeUpKindsRender(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(seed(t), 1))
	for number := range 60 {
		m, root := makeUp(r, number), t.TempDir()
		m.write(t, root)
		understand(t, root, []*made{m})
		for range 3 {
			u := &unstructured.Unstructured{Object: map[string]any{"spec": m.newSpec(r)}}
			u.SetAPIVersion(m.compiled.GVK.GroupVersion().String())
			u.SetKind(m.kind)
			u.SetName("a")
			u.SetNamespace("default")
			apiserver.Default(m.compiled.Version, u.Object)
			if errs := apiserver.Validate(m.compiled.Version, u.Object); len(errs) > 0 {
				t.Fatalf("%s: %v", m.name(), errs)
			}
			_, err := render.Children(context.Background(), m.compiled, u, nowhere{})
			if err == nil {
				_, err = render.Status(context.Background(), m.compiled, u, nowhere{})
			}
			if err != nil {
				t.Fatalf("%s: %v\nspec: %#v\n%s", m.name(), err, u.Object["spec"], m.show())
			}
		}
	}
}

func (nowhere) Await(string, []*template.Document) (any, string, error) { return nil, "", nil }
func (nowhere) Lookup(template.Object) (any, error)                     { return nil, nil }
func (nowhere) Select(template.Object, labels.Selector) ([]any, error)  { return nil, nil }
func (nowhere) Config(string) (any, error)                              { return nil, nil }
func (nowhere) Stable(string, string, int) (string, error)              { return "", nil }
