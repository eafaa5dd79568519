package operators

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestPasswords: many resources, each with a text that is drawn once; the
// caches are late, and every operator is killed after a few of its requests.
// Each Secret has one value ever. CRASH_PASSWORDS is how many resources.
func TestPasswords(t *testing.T) {
	t.Parallel()
	many := 60
	if text := os.Getenv("CRASH_PASSWORDS"); text != "" {
		var err error
		if many, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	s := build(t, map[string]string{"secret.yaml": everyWay["secret.yaml"]})
	passwords := record(t, s.namespace)
	s.wire = newWire()
	for i := range many {
		s.web(fmt.Sprintf("a%d", i), "text: old")
	}
	requests, lives := s.dieOften(many)
	s.start(lagging())
	kit.Eventually(t, "all are ready", s.allReady)
	passwords.once(t, many)
	t.Logf("%d passwords, %d requests, %d operators killed", many, requests, lives)
}

// dieOften starts operators and kills each before, after or while a
// request is sent, until one finds nothing to do.
func (s *site) dieOften(many int) (requests, lives int) {
	s.Helper()
	late := &astray{held: map[request]*held{}}
	for ; ; lives++ {
		if lives > 10*many {
			s.Fatalf("%d operators did not do the work of %d resources", lives, many)
		}
		w, b, counts := lagging(), []blow{killBefore, killAfter, killLate}[lives%3], request.asks
		if b == killLate {
			counts = func(r request) bool { return r.writes() && r.resource == "secrets" }
		}
		w.astray = late
		w.set(kth(1+lives/3%10, b, counts))
		s.start(w)
		if !s.until("it is killed or has nothing to do", s.allReady) {
			w.kill()
			return requests, lives
		}
		requests += len(w.asked())
	}
}

// allReady says which resource is not ready.
func (s *site) allReady() error {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(s.apiVersion())
	list.SetKind("WebList")
	if err := cluster.Client.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		if err := kit.IsCondition(&list.Items[i], "Ready", "True", ""); err != nil {
			return fmt.Errorf("%s: %w", list.Items[i].GetName(), err)
		}
	}
	return nil
}
