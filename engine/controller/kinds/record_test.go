package kinds

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// TestWritesAreRead: what is written to a CRD is read from it.
func TestWritesAreRead(t *testing.T) {
	crd := &metav1.ObjectMeta{Annotations: map[string]string{"jacquard.dev/child-kinds": "Secret", "jacquard.dev/rollback": "aaaa bbbb"}}
	mine, now := shard.Shard{Identity: "home/jacquard"}, time.Unix(1_000_000, 0).UTC()
	node := RecordedKind{schema.GroupKind{Kind: "Node"}, true}
	deletion := kind.DeletionSettings{DeletionOrder: []string{"web"}, Elsewhere: []string{kind.Anywhere}}
	written := Writes{Claim: true, Kinds: []RecordedKind{configMaps, node}, Deletion: &deletion, Rollback: &rollout.Rollback{},
		Rollout: &rollout.Record{State: rollout.Complete, Revisions: recordA.Revisions}}.Annotations(crd, mine, now)
	want := map[string]any{"jacquard.dev/operator": "home/jacquard", "jacquard.dev/child-kinds": "ConfigMap,Secret",
		"jacquard.dev/patched-kinds": "Node", "jacquard.dev/leaving": `{"deleteOrder":["web"],"elsewhere":["*"]}`, "jacquard.dev/rollback": nil,
		"jacquard.dev/rollout":    `{"revisions":["1-aaaa"],"state":"Complete","total":0,"moved":0,"ready":0,"began":"1970-01-12T13:46:40Z"}`,
		"jacquard.dev/rolled-out": "aaaa"}
	if diff := cmp.Diff(want, written); diff != "" {
		t.Error(diff)
	}
	for key, value := range written {
		if delete(crd.Annotations, key); value != nil {
			crd.Annotations[key] = value.(string)
		}
	}
	record := recordA
	record.Began = now
	if diff := cmp.Diff(Record{Kinds: []RecordedKind{configMaps, {GroupKind: schema.GroupKind{Kind: "Secret"}}, node}, Deletion: deletion, Rollout: record},
		ReadRecord(crd, mine)); diff != "" {
		t.Error(diff)
	}
}

// TestUnused: a recorded kind is unused if no version makes or patches it. While a version is not
// known, each may be in use.
func TestUnused(t *testing.T) {
	secret := RecordedKind{GroupKind: schema.GroupKind{Kind: "Secret"}}
	patched := RecordedKind{configMaps.GroupKind, true}
	recorded := []RecordedKind{configMaps, secret, patched}
	for name, tt := range map[string]struct {
		versions []*kind.Kind
		want     []RecordedKind
	}{
		"one version":           {[]*kind.Kind{compiled}, []RecordedKind{secret, patched}},
		"one version not known": {[]*kind.Kind{compiled, nil}, nil},
		"none":                  {nil, nil},
	} {
		if diff := cmp.Diff(tt.want, Unused(recorded, tt.versions)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
