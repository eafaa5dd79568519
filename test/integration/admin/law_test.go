package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// plurals are the resources of the kinds of the folder.
var plurals = map[string]string{
	"ConfigMap": "configmaps", "Secret": "secrets", "Deployment": "deployments", "PersistentVolumeClaim": "persistentvolumeclaims",
}

// TestPlanIsCarriedOut: what diff says before is what the operator sends after:
// each write of it, and no other.
func TestPlanIsCarriedOut(t *testing.T) {
	s := build(t, everything)
	s.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\ndata: {text: theirs}\n")
	s.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: others}\ndata: {text: theirs}\n")
	s.apply(s.web(spec + ", extra: true, patch: theirs"))
	s.run()
	for _, next := range []string{
		"text: two, size: 2, replicas: 2, token: other, patch: others",
		spec + ", extra: true, patch: theirs",
		spec + ", extra: true, patch: theirs",
	} {
		s.apply(s.web(next))
		want := map[string]int{}
		resources := s.diffed("webs." + s.group + "/a")
		for _, c := range resources[0].Changes {
			switch c.Verb {
			case diff.Created, diff.Changed, diff.Patched, diff.Released:
				want[fmt.Sprintf("patch %s %s", plurals[c.Kind], c.Name)]++
			case diff.Recreated: // the change is refused, tried as new, and then made so
				want[fmt.Sprintf("patch %s %s", plurals[c.Kind], c.Name)] += 2
				want[fmt.Sprintf("patch %s probe", plurals[c.Kind])]++
				want[fmt.Sprintf("delete %s %s", plurals[c.Kind], c.Name)]++
			case diff.Pruned:
				want[fmt.Sprintf("delete %s %s", plurals[c.Kind], c.Name)]++
			case diff.Kept:
			default:
				t.Errorf("%s is %s: %s", c.Named(), c.Verb, c.Why)
			}
		}
		mark := cluster.Mark(t)
		s.start()
		s.ready("a")
		s.served() // where nothing changes it is Ready all the time
		s.operator.Stop(t)
		if d := cmp.Diff(want, s.sent(mark)); d != "" {
			t.Errorf("%s: the operator did not what diff said (-said +did):\n%s", next, d)
		}
	}
}

// served waits until the operator has served a resource of the kind.
func (s *toolSite) served() {
	s.Helper()
	kit.Eventually(s, "the operator has served the resource", func() error {
		families, err := metrics.Registry.Gather()
		if err != nil {
			return err
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				about := map[string]string{}
				for _, l := range m.GetLabel() {
					about[l.GetName()] = l.GetValue()
				}
				if f.GetName() == "jacquard_reconciliations_total" && about["kind"] == "webs."+s.group && about["result"] == "done" &&
					m.GetCounter().GetValue() > 0 {
					return nil
				}
			}
		}
		return errors.New("it has not")
	})
}

// diffed runs diff -o json whatever it exits with.
func (s *toolSite) diffed(args ...string) []*diff.Resource {
	s.Helper()
	a := s.as(looker, append([]string{"diff", "--root", s.root, "-o", "json"}, args...)...)
	var all []*diff.Resource
	if err := json.Unmarshal([]byte(a.stdout), &all); err != nil || len(all) == 0 {
		s.Fatalf("exit %d: %v:\n%s", a.code, err, a.all())
	}
	return all
}

// sent counts what the operator wrote in the namespace, but for statuses.
func (s *toolSite) sent(mark int64) map[string]int {
	s.Helper()
	n := map[string]int{}
	for _, r := range kit.Writes(cluster.Requests(s, mark)) {
		if r.Namespace != s.namespace || strings.HasPrefix(r.Resource, "webs") {
			continue
		}
		if strings.HasPrefix(r.Name, "probe-") {
			r.Name = "probe"
		}
		n[r.Verb+" "+r.Resource+" "+r.Name]++
	}
	return n
}
