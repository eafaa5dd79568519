package rollouts

import "testing"

// TestReadsTried: what a changed folder reads for the first time is waited for
// before its deletions are counted.
func TestReadsTried(t *testing.T) {
	t.Parallel()
	k := newThing(t, "readstried", claims(""))
	other := cluster.Namespace(t)
	cluster.Apply(t, other, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: flag}\n")
	k.run(t)
	k.apply(t, "r00", "hello")
	k.served(t, "r00")
	k.exists(t, "v1", "PersistentVolumeClaim", "r00")
	files := claims("")
	files["claim.yaml"] = "{{ if not (lookup \"v1\" \"ConfigMap\" \"" + other + "\" \"flag\") }}\n" + files["claim.yaml"] + "{{ end }}\n"
	files["kind.yaml"] = patient + "reads:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [" + other + "]}\n"
	k.write(t, files)
	r := k.rollout(t, "Stopped", "Deletes")
	if want := "PersistentVolumeClaim " + k.ns + "/r00"; len(r.DeletionNames) != 1 || r.DeletionNames[0] != want {
		t.Errorf("the record is %s", r)
	}
	k.exists(t, "v1", "PersistentVolumeClaim", "r00")
}

// TestStatusTried: a change of status.yaml alone is tried and goes out in waves
// like any other.
func TestStatusTried(t *testing.T) {
	t.Parallel()
	files := config("one")
	files["kind.yaml"] = quick
	k := newThing(t, "statustried", files)
	k.run(t)
	names := k.many(t, 5)
	k.write(t, map[string]string{"kind.yaml": quick,
		"status.yaml": "conditions:\n- {type: Ready, status: \"False\", reason: Broken, message: by the folder}\n"})
	if r := k.rollout(t, "Stopped", "NotReady"); r.Total != 5 || r.Moved != 1 || r.Ready != 0 {
		t.Errorf("the record is %s", r)
	}
	k.says(t, "r00", "Ready", "False", "Broken")
	k.ready(t, names[1:]...)
	k.remove(t, "status.yaml")
	k.ready(t, names...)

	k.apply(t, "r03", "bad")
	k.served(t, "r03")
	k.write(t,
		map[string]string{"status.yaml": "{{ if eq .spec.text \"bad\" }}{{ fail \"not so\" }}{{ end }}\nconditions:\n- {type: Told, status: \"True\", reason: Told, message: told}\n"})
	if r := k.rollout(t, "Stopped", "RenderFailed"); r.Total != 5 || r.Moved != 0 {
		t.Errorf("the record is %s", r)
	}
	k.says(t, "r03", "RolloutPending", "True", "PreviewFailed")
	k.says(t, "r03", "Ready", "True", "")
	k.apply(t, "r03", "good")
	k.rollout(t, "Complete", "")
	for _, name := range names {
		k.says(t, name, "Told", "True", "told")
	}
	k.ready(t, names...)
}
