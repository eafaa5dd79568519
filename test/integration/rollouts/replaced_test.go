package rollouts

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// frozen is a folder whose ConfigMap cannot be changed, only be recreated.
func frozen(text string) map[string]string {
	return map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nimmutable: true\nmetadata:\n  name: {{ .metadata.name }}\n" +
		"  annotations:\n    jacquard.dev/on-immutable: recreate\ndata:\n  text: " + text + "\n"}
}

// TestReplaced: children that the API does not let change are recreated up to
// the same budget as any that are deleted; the next one waits for approval.
func TestReplaced(t *testing.T) {
	t.Parallel()
	k := newThing(t, "replaced", frozen("one"))
	k.run(t)
	names := k.many(t, 10)
	k.write(t, frozen("two"))
	r := k.rollout(t, rollout.Stopped, rollout.Deletes)
	if got := k.texts(t); got["one"] != 7 || r.DeletionCount < 1 {
		t.Errorf("%v: %s", got, r)
	}
	k.approve(t)
	k.rollout(t, rollout.Complete, "")
	k.allSay(t, "two", 10)
	k.ready(t, names...)
}

// TestFailing: a resource that the changed folder cannot render stays as it
// was and says so; the others are reached; approved, it is served all the same.
func TestFailing(t *testing.T) {
	t.Parallel()
	k := newThing(t, "failing", config("{{ .spec.text }}"))
	k.run(t)
	names := k.many(t, 10)
	k.apply(t, "r03", "bad")
	k.served(t, "r03")
	k.says(t, "r03", "Ready", "True", "")
	k.write(t, config("{{ if eq .spec.text \"bad\" }}{{ fail \"not so\" }}{{ end }}new"))
	r := k.rollout(t, rollout.Stopped, rollout.RenderFailed)
	if r.Moved != 9 || r.Total != 10 {
		t.Errorf("%s", r)
	}
	k.says(t, "r03", "RolloutPending", "True", "PreviewFailed")
	k.says(t, "r03", "Ready", "True", "")
	k.says(t, "r03", "Stalled", "", "")
	k.ready(t, append(names[:3], names[4:]...)...)
	if got := k.texts(t); got["bad"] != 1 || got["new"] != 9 {
		t.Errorf("%v", got)
	}
	k.approve(t)
	k.rollout(t, rollout.Complete, "")
	k.says(t, "r03", "Stalled", "True", "not so")

	k.write(t, config("{{ fail \"for all\" }}"))
	r = k.rollout(t, rollout.Stopped, rollout.RenderFailed)
	if got := k.texts(t); got["bad"] != 1 || got["new"] != 9 || r.Moved != 0 {
		t.Errorf("%v: %s", got, r)
	}
}

// TestPausedKind: while the whole kind is paused its changed folder waits.
func TestPausedKind(t *testing.T) {
	t.Parallel()
	k := newThing(t, "pausedkind", config("one"))
	op := k.run(t)
	k.many(t, 5)
	pause := func(value any) {
		t.Helper()
		patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"jacquard.dev/paused": value}}}
		body, err := json.Marshal(patch)
		if err != nil {
			t.Fatal(err)
		}
		if err := cluster.Client.Patch(t.Context(), k.crd(t), client.RawPatch(types.MergePatchType, body)); err != nil {
			t.Fatal(err)
		}
	}
	pause("true")
	k.says(t, "r00", "Paused", "True", "") // so the operator knows
	k.write(t, config("two"))
	k.rollout(t, rollout.Running, "")
	op.AwaitQuiet(t)
	k.allSay(t, "one", 5)
	pause(nil)
	k.rollout(t, rollout.Complete, "")
	k.allSay(t, "two", 5)
}
