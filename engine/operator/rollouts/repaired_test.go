package rollouts

import "testing"

// TestRepaired: a rollout that stopped for resources which cannot be rendered
// goes on by itself once their author has changed or deleted them.
func TestRepaired(t *testing.T) {
	t.Parallel()
	k := newThing(t, "repaired", config("one"))
	k.run(t)
	names := k.many(t, 4)
	k.apply(t, "r01", "bad")
	k.apply(t, "r02", "bad")
	k.ready(t, names...)
	k.write(t, config("{{ if eq .spec.text \"bad\" }}{{ fail \"not so\" }}{{ end }}two"))
	k.rollout(t, "Stopped", "RenderFailed")
	k.says(t, "r01", "Ready", "False", "RolloutFailed")
	k.allSay(t, "one", 4)
	k.apply(t, "r01", "good")
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "r02")
	k.rollout(t, "Complete", "")
	k.allSay(t, "two", 3)
	k.ready(t, "r00", "r01", "r03")
}
