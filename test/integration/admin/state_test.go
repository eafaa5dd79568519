package admin

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// expect fails unless an answer has this code and says all parts.
func (s *toolSite) expect(a toolAnswer, code int, parts ...string) {
	s.Helper()
	for _, part := range parts {
		if a.code != code || !strings.Contains(a.all(), part) {
			s.Errorf("exit %d, want %d and %q:\n%s", a.code, code, part, a.all())
		}
	}
}

// TestWaiting: a file that waits keeps what it made, and says what for.
func TestWaiting(t *testing.T) {
	s := build(t, map[string]string{
		"settings.yaml": everything["configmap.yaml"],
		"late.yaml": `{{- if not .spec.go }}{{ wait "spec.go is not set" }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}-late}
data: {text: {{ .spec.text }}}
`,
	})
	s.apply(s.web("text: one, go: true"))
	s.run()
	a := s.diff(1, s.file(s.web("text: two")))
	s.expect(a, 1, "1 changed", "waits       late.yaml: spec.go is not set")
	if strings.Contains(a.stdout, "a-late") {
		t.Errorf("what waits is neither changed nor pruned:\n%s", a.all())
	}
}

// TestPausedAndLeaving: what a resource that is paused, or goes, comes to.
func TestPausedAndLeaving(t *testing.T) {
	s := build(t, map[string]string{
		"configmap.yaml": everything["configmap.yaml"],
		"patch.yaml":     everything["patch.yaml"],
	})
	s.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\ndata: {text: theirs}\n")
	s.apply(s.web("text: one, patch: theirs"))
	s.run()
	s.apply(strings.Replace(s.web("text: two, patch: theirs"), "metadata: {",
		`metadata: {finalizers: [example.com/others], annotations: {jacquard.dev/paused: "true"}, `, 1))
	s.expect(s.diff(1, "webs."+s.group+"/a"), 1, "1 changed, 1 patched", "it is paused")
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "a")
	s.expect(s.diff(1, "webs."+s.group+"/a"), 1, "1 released", "it is being deleted", "-  ours: one")
	web, err := cluster.Get(s.apiVersion(), "Web", s.namespace, "a")
	if err != nil {
		t.Fatal(err)
	}
	web.SetFinalizers([]string{"example.com/others"}) // somebody takes ours off: the operator lets go
	if err := cluster.Client.Update(context.Background(), web); err != nil {
		t.Fatal(err)
	}
	s.expect(s.diff(0, "webs."+s.group+"/a"), 0, "nothing would change", "it is being deleted")
}

// TestOnce: a Job made once and changed is recreated.
func TestOnce(t *testing.T) {
	s := build(t, map[string]string{"job.yaml": `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .metadata.name }}
  annotations: {jacquard.dev/run-once: "true"}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: once, image: example.com/job:1, args: [{{ .spec.text }}]}]}
`})
	s.apply(s.web("text: one"))
	s.start()
	kit.Eventually(t, "the Job is there", func() error {
		_, err := cluster.Get("batch/v1", "Job", s.namespace, "a")
		return err
	})
	s.operator.Stop(t)
	s.expect(s.diff(1, s.file(s.web("text: two"))), 1, "recreated   Job "+s.namespace+"/a", "-        - one\n      +        - two\n")
	if a := s.diff(1, s.file(s.web("text: two"))); strings.Contains(a.stdout, "probe-") ||
		strings.Contains(a.stdout, "+        controller-uid") {
		t.Errorf("what the trial alone brings is shown:\n%s", a.all())
	}
}

// TestRefusedResource: what the server refuses of the resource itself is said,
// and nothing is made up about its children.
func TestRefusedResource(t *testing.T) {
	s := build(t, everything)
	bad := s.file(strings.Replace(s.web(spec), "spec:", "status: {childrenReady: many}\nmetadatas: {}\nspec:", 1))
	a := s.diff(2, bad)
	s.expect(a, 2, "the resource itself is refused", "metadatas")
	if strings.Contains(a.stdout, "ConfigMap") {
		t.Errorf("children of a resource that is refused:\n%s", a.all())
	}
	s.expect(s.diff(2, "webs."+s.group+"/nobody"), 2, "there is none of that name")
	s.expect(s.diff(2, "nosuch.example.com/a"), 2, "the cluster has none of that name")
	s.expect(s.diff(2, "/nosuchfile.yaml"), 2, "/nosuchfile.yaml")
	s.expect(s.diff(2, "--output", "xml", bad), 2, "--output is text, json or markdown")
	s.expect(s.diff(2, s.file(strings.Replace(s.web(spec), "name: a", "generateName: a-", 1))), 2, "it has no metadata.name")
	s.expect(s.as(looker, "tree", "webs."+s.group+"/"), 2, "is not NAME/[NAMESPACE/]RESOURCE")
	s.expect(s.as(looker, "explain", "--root", s.root, "-o", "json", "webs."+s.group+"/nobody"), 1, "[]\n",
		s.namespace+"/nobody: there is none of that name")
	broken := s.changed(map[string]string{"configmap.yaml": "{{ .spec | nosuch }}"})
	s.expect(s.as(looker, "diff", "--root", broken, "--all"), 2, "configmap.yaml:1:")
}

// TestAccount: children that are written as an account of the namespace are
// tried as that account.
func TestAccount(t *testing.T) {
	s := build(t, map[string]string{
		"configmap.yaml": everything["configmap.yaml"],
		"kind.yaml":      "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nserviceAccountName: default\n",
	})
	account := "system:serviceaccount:" + s.namespace + ":default"
	s.expect(s.diff(2, s.file(s.web("text: one"))), 2, `User "`+account+`" cannot patch`, `verbs: ["patch"]`, "unknown     ConfigMap")
}

// TestStringData: a Secret whose file says stringData, seen by kubectl too,
// shows nothing of it; nor does what kubectl keeps as an annotation.
func TestStringData(t *testing.T) {
	s := build(t, map[string]string{"secret.yaml": everything["secret.yaml"]})
	s.apply(s.web("token: tok-secret-one"))
	s.run()
	secret, err := cluster.Get("v1", "Secret", s.namespace, "a-login")
	if err != nil {
		t.Fatal(err)
	}
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	cluster.Apply(t, s.namespace,
		fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: a-login, annotations: {kubectl.kubernetes.io/last-applied-configuration: '%s', note: 'tok-secret-one'}}\n", data["password"]))
	s.write(s.root, map[string]string{"secret.yaml": strings.Replace(everything["secret.yaml"], "stringData: {",
		"stringData: {more: {{ .spec.token }}, ", 1)})
	a := s.diff(1, "webs."+s.group+"/a")
	s.expect(a, 1, "+  more: (hidden)", "   token: (hidden)")
	for _, no := range []string{"tok-secret-one", base64Of("tok-secret-one"), data["password"]} {
		if strings.Contains(a.all(), no) {
			t.Errorf("%q is shown:\n%s", no, a.all())
		}
	}
	all := s.resources(1, "webs."+s.group+"/a")
	if all[0].Changes[0].Verb != diff.Changed || strings.Contains(fmt.Sprint(all[0]), data["password"]) {
		t.Errorf("%v", all[0].Changes)
	}
}

// gadgetCRD is a kind that the cluster serves, or only defines.
const gadgetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.GROUP}
spec:
  group: GROUP
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  scope: Namespaced
  versions:
  - {name: v1, served: SERVED, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// TestUnserved: children of a kind that is defined and not served just now are
// not taken for gone.
func TestUnserved(t *testing.T) {
	s := build(t, nil)
	gadgets := func(served string) string {
		return strings.NewReplacer("GROUP", s.group, "SERVED", served).Replace(gadgetCRD)
	}
	s.write(s.root, map[string]string{
		"configmap.yaml": everything["configmap.yaml"],
		"gadget.yaml":    "apiVersion: " + s.apiVersion() + "\nkind: Gadget\nmetadata: {name: {{ .metadata.name }}}\nsize: 1\n",
	})
	cluster.Apply(t, "", gadgets("true"))
	cluster.Served(t, s.apiVersion(), "Gadget")
	s.apply(s.web("text: one"))
	s.run()
	cluster.Apply(t, "", gadgets("false"))
	kit.Eventually(t, "gadgets are not served", func() error {
		if a := s.as(looker, "tree", "gadgets."+s.group+"/a"); !strings.Contains(a.stderr, "the cluster has none of that name") {
			return fmt.Errorf("exit %d: %s", a.code, a.all())
		}
		return nil
	})
	old := s.changed(map[string]string{"configmap.yaml": everything["configmap.yaml"]})
	for _, root := range []string{s.root, old} {
		s.expect(s.as(looker, "diff", "--root", root, "webs."+s.group+"/a"), 2, "not known   ", "Gadget")
		s.expect(s.as(looker, "diff", "--root", root, "--all"), 2, "not known: ", "Gadget")
	}
	s.expect(s.as(looker, "tree", "webs."+s.group+"/a"), 0, "note: ", "Gadget")
	s.expect(s.as(looker, "explain", "--root", old, "webs."+s.group+"/a"), 0, "note: ", "Gadget")
}

// TestNotInstalled: of a folder whose kind the cluster does not have it is said
// that it was not looked at.
func TestNotInstalled(t *testing.T) {
	s := build(t, map[string]string{"configmap.yaml": everything["configmap.yaml"]})
	other := "webs.other." + s.group
	kit.Write(t, s.root, map[string]string{
		"crds/" + other + ".yaml":                strings.ReplaceAll(kit.WebCRD, "GROUP", "other."+s.group),
		"templates/" + other + "/configmap.yaml": everything["configmap.yaml"],
	})
	s.expect(s.diff(0, "--all"), 0, other+": 0 of 0 resources", "the cluster does not have this kind", "webs."+s.group+": 0 of 0 resources")
}
