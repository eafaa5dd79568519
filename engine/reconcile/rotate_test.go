package reconcile

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// keptSecret keeps the password that it has, as Helm charts do.
const keptSecret = `{{- $old := lookup "v1" "Secret" "" "login" }}
apiVersion: v1
kind: Secret
metadata: {name: login}
data:
  {{- if $old }}
  password: {{ $old.data.password }}
  {{- else }}
  password: {{ stable "secret" "password" 20 | b64enc }}
  {{- end }}
`

// TestDeletedSecretIsDrawnAnew: who deletes a Secret to rotate its password gets
// another one, however the template keeps it otherwise.
func TestDeletedSecretIsDrawnAnew(t *testing.T) {
	for name, text := range map[string]string{"by stable": drawnSecret, "by lookup": keptSecret} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"secret.yaml": text})
			w.settle()
			seen := map[string]bool{}
			for range 3 {
				secret := w.server.All(secretKind)[0]
				password := fmt.Sprint(secret.Object["data"])
				if seen[password] {
					t.Fatal("the same password was drawn again")
				}
				seen[password] = true
				w.server.Delete(secret)
				w.settle()
			}
		})
	}
}

// TestEditedSecretIsReadAsSeen: a change of a child that its own template reads is not
// undone because the cache of what templates read is later than the one of children.
func TestEditedSecretIsReadAsSeen(t *testing.T) {
	w := newWorld(t, map[string]string{"secret.yaml": keptSecret})
	w.settle()
	w.read = map[schema.GroupVersionKind][]*unstructured.Unstructured{secretKind: w.server.All(secretKind)}
	w.server.Change(w.server.All(secretKind)[0], "person", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "bmV3", "data", "password")
	})
	w.sends("while the change is not known to those who read it")
	w.read = nil
	w.settle()
	if password := w.server.All(secretKind)[0].Object["data"].(map[string]any)["password"]; password != "bmV3" {
		t.Errorf("the password is %v", password)
	}
}
