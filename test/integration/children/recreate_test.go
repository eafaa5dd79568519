package children

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// set is a StatefulSet with a field that the API does not let change.
const set = `apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .metadata.name }}
  annotations:
    jacquard.dev/on-immutable: recreate-keeping-dependents
spec:
  serviceName: {{ .metadata.name }}
  podManagementPolicy: {{ .spec.how }}
  replicas: 2
  selector:
    matchLabels: {app: "{{ .metadata.name }}"}
  template:
    metadata:
      labels: {app: "{{ .metadata.name }}"}
    spec:
      containers:
      - {name: one, image: one}
`

// TestKeepingDependents: a StatefulSet that is recreated keeps its Pods.
func TestKeepingDependents(t *testing.T) {
	s := ordered(t, map[string]string{"set.yaml": set})
	s.apply("how: OrderedReady")
	s.rests("", "StatefulSet/a")
	old, pods := s.get("apps/v1", "StatefulSet", "a"), s.list("v1", "Pod")
	if len(pods) != 2 {
		t.Fatalf("%d Pods, want 2", len(pods))
	}
	r := s.follow("v1 Pod")
	s.apply("how: Parallel")
	s.rests("", "StatefulSet/a")
	now := s.get("apps/v1", "StatefulSet", "a")
	if now.GetUID() == old.GetUID() {
		t.Error("the StatefulSet is the old one")
	}
	for _, pod := range pods {
		p := s.get("v1", "Pod", pod.GetName())
		if c := metav1.GetControllerOf(p); p.GetUID() != pod.GetUID() || c == nil || c.UID != now.GetUID() {
			t.Errorf("Pod %s is %s, controlled by %v", p.GetName(), p.GetUID(), c)
		}
	}
	for _, m := range r.soFar() {
		if going(m) {
			t.Errorf("Pod %s went", m.object.GetName())
		}
	}
	s.apply("how: Sometimes")
	s.rests("set.yaml:", "StatefulSet/a")
	if s.get("apps/v1", "StatefulSet", "a").GetUID() != now.GetUID() {
		t.Error("content that is refused anyway deleted the StatefulSet")
	}
}

// precious is what no folder may say of what holds data, child of any other.
const (
	precious = "metadata:\n  name: a\n  annotations:\n    jacquard.dev/on-delete: keep\n    jacquard.dev/on-immutable: recreate\n"
	marked   = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  annotations:\n    jacquard.dev/%s\n"
)

// TestRefusedFolder: what a folder may not say is told when it is loaded, with
// places.
func TestRefusedFolder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  map[string]string
		places []string
	}{
		"what holds data": {map[string]string{
			"kind.yaml":  "children:\n- {apiVersion: v1, kind: Namespace}\n- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}\n",
			"claim.yaml": "apiVersion: v1\nkind: PersistentVolumeClaim\n" + precious,
			"space.yaml": "apiVersion: v1\nkind: Namespace\n" + precious,
			"crd.yaml":   "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n" + precious,
		}, []string{"claim.yaml:7:32: PersistentVolumeClaim is never recreated", "space.yaml:7:32", "crd.yaml:7:32"}},
		"all others": {map[string]string{
			"mute.yaml":  "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: b\n",
			"adopt.yaml": fmt.Sprintf(marked, "{{ .spec.name }}", `adopt: "true"`),
			"once.yaml":  fmt.Sprintf(marked, "c", `run-once: "true"`),
			"first.yaml": fmt.Sprintf(marked, "d", "initial-fields: metadata.labels"),
		}, []string{"mute.yaml:2:1", "adopt.yaml:6:5", "once.yaml:6:", "first.yaml:6:34"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := ordered(t, c.files)
			s.apply("name: a")
			s.is("Stalled", "True", "FolderInvalid")
			said := kit.IsCondition(s.owner(), "Ready", "True", "").Error()
			for _, place := range c.places {
				if !strings.Contains(said, place) {
					t.Errorf("%s is not told of in %s", place, said)
				}
			}
			s.rests("FolderInvalid")
			s.goes()
		})
	}
}

// TestClaim: a volume claim that the API refuses to change stays, and one that
// is not rendered any more is held.
func TestClaim(t *testing.T) {
	s := ordered(t, map[string]string{"map.yaml": configMap, "claim.yaml": `{{- if ne .spec.claim "none" }}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ .metadata.name }}
  annotations:
    jacquard.dev/on-delete: delete
spec:
  accessModes: ["{{ .spec.claim }}"]
  resources:
    requests:
      storage: 1Gi
{{- end }}
`})
	s.apply("claim: ReadWriteOnce")
	s.rests("", "PersistentVolumeClaim/a", "ConfigMap/a")
	claim := s.get("v1", "PersistentVolumeClaim", "a")
	s.apply("claim: ReadWriteMany")
	s.rests("claim.yaml:", "PersistentVolumeClaim/a", "ConfigMap/a")
	s.apply("claim: none")
	s.rests("allow-prune="+s.allowance("v1", "PersistentVolumeClaim", "a"), "PersistentVolumeClaim/a", "ConfigMap/a")
	if now := s.get("v1", "PersistentVolumeClaim", "a"); now.GetUID() != claim.GetUID() || now.GetDeletionTimestamp() != nil {
		t.Errorf("the claim is %v", now)
	}
	s.annotate("jacquard.dev/allow-prune", "Secret/NAMESPACE/x/12345678, "+s.allowance("v1", "PersistentVolumeClaim", "a"))
	s.away("v1", "PersistentVolumeClaim", s.namespace, "a")
	s.rests("", "ConfigMap/a")
}
