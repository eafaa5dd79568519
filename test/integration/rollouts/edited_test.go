package rollouts

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestEditedWhileStopped: while a rollout is stopped, what is edited or made is
// served by the version before, and loses nothing; what that version would lose
// is listed for the approval, and the approval moves it.
func TestEditedWhileStopped(t *testing.T) {
	t.Parallel()
	folder := func(suffix string) map[string]string {
		files := sets(suffix)
		files["map.yaml"] = config("{{ .spec.text }}")["map.yaml"]
		return files
	}
	k := newThing(t, "edited", folder(""))
	k.run(t)
	names := k.many(t, 2)
	k.write(t, folder("-renamed"))
	k.rollout(t, rollout.Stopped, rollout.Deletes)
	k.apply(t, "r00", "edited")
	k.apply(t, "made", "edited")
	names = append(names, "made")
	k.say(t, map[string]int{"hello": 1, "edited": 2})
	k.served(t, names...)
	for _, name := range names {
		k.exists(t, "apps/v1", "StatefulSet", name)
		if err := cluster.Gone("apps/v1", "StatefulSet", k.ns, name+"-renamed"); err != nil {
			t.Errorf("without approval: %v", err)
		}
	}
	k.deletes(t, 3)
	k.approve(t)
	k.rollout(t, rollout.Complete, "")
	for _, name := range names {
		k.exists(t, "apps/v1", "StatefulSet", name+"-renamed")
		kit.Eventually(t, "the old one is gone", func() error { return cluster.Gone("apps/v1", "StatefulSet", k.ns, name) })
	}
	k.ready(t, names...)
}
