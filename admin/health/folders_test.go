package health

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

const webs = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Web, plural: webs}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

// TestOnRecord: the record on the CRD decides which entries of retired may go,
// and which are lacking; while a rollout is under way nothing may go, and what an
// earlier folder makes is not lacking.
func TestOnRecord(t *testing.T) {
	crd, err := crdfile.Parse("crd.yaml", []byte(webs))
	if err != nil {
		t.Fatal(err)
	}
	f, err := folder.FromMap(crd.Name, "", map[string][]byte{
		"map.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n"),
		"kind.yaml": []byte("apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nretired:\n" +
			"- {apiVersion: v1, kind: Service}\n- {apiVersion: v1, kind: Secret}\n- {apiVersion: v1, kind: Pod, ownership: patch}\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kind.Compile(f, crd)
	if err != nil {
		t.Fatal(err)
	}
	found := &metav1.ObjectMeta{Name: crd.Name, Annotations: map[string]string{
		"jacquard.dev/child-kinds": "ConfigMap,CronJob.batch,Secret", "jacquard.dev/patched-kinds": "ConfigMap",
	}}
	preferred := func(gk apischema.GroupKind) (live.Resource, bool) {
		return live.Resource{GVK: gk.WithVersion("v1")}, true
	}
	for state, want := range map[verdict.State]string{
		verdict.Serving: `{apiVersion: v1, kind: Service} may go: true
{apiVersion: v1, kind: Secret} may go: false
{apiVersion: v1, kind: Pod, ownership: patch} may go: true
dropped {apiVersion: batch/v1, kind: CronJob}
dropped {apiVersion: v1, kind: ConfigMap, ownership: patch}
`,
		verdict.RollingOut: `{apiVersion: v1, kind: Service} may go: false
{apiVersion: v1, kind: Secret} may go: false
{apiVersion: v1, kind: Pod, ownership: patch} may go: false
`,
	} {
		of := &Kind{Kind: heartbeat.Kind{Name: crd.Name, State: state}, compiled: k}
		of.onRecord(found, preferred)
		var text strings.Builder
		for _, r := range of.Retired {
			fmt.Fprintf(&text, "%s may go: %v\n", r.Entry, r.MayGo)
		}
		for _, entry := range of.Dropped {
			fmt.Fprintf(&text, "dropped %s\n", entry)
		}
		if diff := cmp.Diff(want, text.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
}

// TestFolderManagers: a folder is named whose ConfigMap has data of several managers, since
// a file that one of them leaves out stays then.
func TestFolderManagers(t *testing.T) {
	folderOf := func(crd string, fields ...string) (m corev1.ConfigMap) {
		m.Labels = map[string]string{api.LabelKind: crd}
		for _, f := range fields {
			manager, owned, _ := strings.Cut(f, " ")
			m.ManagedFields = append(m.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager,
				FieldsV1: metav1.NewFieldsV1(owned)})
		}
		return m
	}
	items := []corev1.ConfigMap{
		folderOf("shared.example.com", `kubectl {"f:data":{"f:b.yaml":{}}}`, `helm {"f:data":{"f:a.yaml":{}}}`),
		folderOf("binary.example.com", `helm {"f:data":{"f:a.yaml":{}}}`, `kubectl {"f:binaryData":{"f:b.yaml":{}}}`),
		folderOf("labelled.example.com", `helm {"f:data":{"f:a.yaml":{}}}`, `kubectl {"f:metadata":{"f:labels":{}}}`, `helm {"f:data":{}}`),
		folderOf("parts.example.com", `helm {"f:data":{"f:a.yaml":{}}}`),
		folderOf("parts.example.com", `kubectl {"f:data":{"f:a.yaml":{}}}`),
	}
	for crd, want := range map[string]string{"shared.example.com": "helm kubectl", "binary.example.com": "helm kubectl"} {
		if got := strings.Join(listFolderManagers(items, crd), " "); got != want {
			t.Errorf("%s: %q, want %q", crd, got, want)
		}
	}
	for _, crd := range []string{"labelled.example.com", "parts.example.com", "none.example.com"} {
		if got := listFolderManagers(items, crd); got != nil {
			t.Errorf("%s: %v", crd, got)
		}
	}
}
