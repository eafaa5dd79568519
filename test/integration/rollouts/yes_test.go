package rollouts

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// personWrites counts what people wrote on the CRD, by the audit log. A write that was
// refused since somebody else had written in between is not counted: it is sent again.
func (k *thing) personWrites(t *testing.T) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(cluster.Dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(log) {
		_, byOperator := kit.ParseAudit(line)
		if !byOperator && !bytes.Contains(line, []byte(`"code":409`)) && bytes.Contains(line, []byte(`"verb":"patch"`)) &&
			bytes.Contains(line, []byte(`"resource":"customresourcedefinitions","name":"`+k.name()+`"`)) {
			n++
		}
	}
	return n
}

// TestActingNeedsAYes: in a script, rollback and approve without --yes write nothing. The
// command that rollback prints refuses once the folder changed. With --yes --wait, both
// end with what they are about.
func TestActingNeedsAYes(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "yes", said("one", false)), cluster.Namespace(t)
	k.at(t, home)
	names := k.many(t, 12)
	more := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}-" + name + "\n"
	}
	changed := func(files map[string]string) {
		t.Helper()
		before := k.crd(t).GetAnnotations()[api.AnnotationRolledOut]
		k.write(t, files)
		kit.Eventually(t, "the folder is rolled out", func() error {
			if k.crd(t).GetAnnotations()[api.AnnotationRolledOut] == before {
				return errors.New("not yet")
			}
			return nil
		})
	}
	two := said("two", false)
	two["more.yaml"] = more("more")
	changed(two)

	text := k.exits(t, 1, "rollback", k.name())
	if n := strings.Count(text, "-more\n"); n != len(names) {
		t.Errorf("it names %d of %d deletions: %s", n, len(names), text)
	}
	_, pinned, _ := strings.Cut(text, "to carry out just this plan:\n  jacquard ")
	pinned, _, _ = strings.Cut(pinned, " --kubeconfig")
	_, pins, _ := strings.Cut(text, "kubeconfig --to-revision")
	two["third.yaml"] = more("third")
	changed(two)
	saysThat(t, k.exits(t, 1, append(strings.Fields(pinned), strings.Fields("--to-revision"+pins)...)...), "nothing was changed", "it was")
	if n := k.personWrites(t); n != 0 {
		t.Errorf("without a yes %d writes were sent", n)
	}

	saysThat(t, k.exits(t, 0, "rollback", k.name(), "--to-revision", "1", "--yes", "--wait=5m"), "RolledBack: every resource")
	k.rollout(t, rollout.Complete, "")
	if _, err := cluster.Get("v1", "ConfigMap", k.ns, names[0]+"-more"); err == nil {
		t.Error("the wait ended before the deletions")
	}
	if n := k.personWrites(t); n != 1 {
		t.Errorf("the rollback sent %d writes", n)
	}

	k.remove(t, "map.yaml")
	k.rollout(t, rollout.Stopped, rollout.Deletes)
	k.exits(t, 1, "approve", k.name())
	if n := k.personWrites(t); n != 1 {
		t.Errorf("without a yes the approval sent %d writes", n-1)
	}
	saysThat(t, k.exits(t, 0, "approve", k.name(), "--yes", "--wait=5m"), "Serving: every resource")
	if n := k.personWrites(t); n != 2 {
		t.Errorf("both sent %d writes", n)
	}
}
