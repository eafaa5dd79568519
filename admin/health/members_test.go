package health

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestServer: the replica that serves a resource is named by its Pod; one that did not
// renew its Lease, or has none any more, serves nothing.
func TestServer(t *testing.T) {
	i := &Installation{
		Members: []*Member{
			{Name: "a", Replica: heartbeat.Replica{Pod: "pod-a"}}, {Name: "b"}, {Name: "late", Late: true},
		},
		division: replicas.Division{Leader: "b", Bounds: replicas.Equal(1), Whole: map[string][]string{"whole": nil}},
	}
	for _, c := range []struct{ kind, owner, want string }{
		{"kind", "a", "served by pod-a (1 of 2 replicas)"},
		{"kind", "b", "served by b (1 of 2 replicas)"},
		{"whole", "a", "served by b (1 of 2 replicas)"},
		{"kind", "late", "no replica serves it at the moment"},
		{"kind", "gone", "no replica serves it at the moment"},
		{"kind", "", "no replica serves it at the moment"},
	} {
		i.division.Owners = []string{c.owner}
		if got := i.server(c.kind, &metav1.ObjectMeta{Namespace: "n"}).String(); got != c.want {
			t.Errorf("a resource of %s that %q serves is %q, want %q", c.kind, c.owner, got, c.want)
		}
	}
}

// TestDivides: replicas are out of balance if one has much more than its part, but not
// while the leader serves a whole kind since a folder rolls out.
func TestDivides(t *testing.T) {
	i := &Installation{
		Members: []*Member{
			{Name: "a", Replica: heartbeat.Replica{Resources: 100}}, {Name: "b", Replica: heartbeat.Replica{Resources: 20}},
		},
		division: replicas.Division{Bounds: replicas.Equal(1), Owners: []string{"a"}},
	}
	wrong := func() (n int) {
		var all findings
		i.divides(&all)
		for _, f := range all {
			if f.state == verdict.Unbalanced {
				n++
			}
		}
		return n
	}
	if n := wrong(); n != 1 {
		t.Errorf("%d problems with the balance", n)
	}
	i.division.Whole = map[string][]string{"whole": nil}
	if n := wrong(); n != 0 {
		t.Errorf("%d problems with the balance in a rollout", n)
	}
}
