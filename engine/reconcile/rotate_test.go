package reconcile

import (
	"fmt"
	"testing"

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
// another one, however the template keeps it otherwise, and whichever cache sees the
// deletion first.
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
