package rollouts

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// TestOscillatingIsNotReady: a folder that reads what it writes reaches the first
// wave alone: each time that a child was written it is to be written again, so the
// resource is not ready again.
func TestOscillatingIsNotReady(t *testing.T) {
	t.Parallel()
	k := newThing(t, "swings", config("{{ .spec.text }}"))
	k.run(t)
	names := k.many(t, 5)
	files := config("{{ .spec.text }}")
	files["kind.yaml"], files["map.yaml"] = quick, files["map.yaml"]+"  sum: {{ child \"map\" | toJson | sha256sum }}\n"
	k.write(t, files)
	if r := k.rollout(t, rollout.Stopped, rollout.NotReady); r.Moved != 1 || r.Total != 5 {
		t.Errorf("it reached others: %s", r)
	}
	k.ready(t, names[1:]...)
	k.write(t, config("{{ .spec.text }}"))
	k.ready(t, names...)
}
