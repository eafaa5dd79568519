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
	k.exists(t, "v1", "PersistentVolumeClaim", "r00")
	files := claims("")
	files["claim.yaml"] = "{{ if not (lookup \"v1\" \"ConfigMap\" \"" + other + "\" \"flag\") }}\n" + files["claim.yaml"] + "{{ end }}\n"
	files["kind.yaml"] = quick + "reads:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [" + other + "]}\n"
	k.write(t, files)
	r := k.rollout(t, "Stopped", "Deletes")
	if want := "PersistentVolumeClaim " + k.ns + "/r00"; len(r.Deletes) != 1 || r.Deletes[0] != want {
		t.Errorf("the record is %s", r)
	}
	k.exists(t, "v1", "PersistentVolumeClaim", "r00")
}
