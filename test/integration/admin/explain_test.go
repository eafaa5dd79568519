package admin

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/explain"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

// explain runs explain -o json and returns the only report.
func (s *toolSite) explain() *explain.Report {
	s.Helper()
	var all []*explain.Report
	before := s.state()
	got := s.as(looker, "explain", "-o", "json", "--root", s.root, "webs."+s.group+"/a")
	if err := json.Unmarshal([]byte(got.stdout), &all); err != nil || got.code != 0 || len(all) != 1 {
		s.Fatalf("exit %d, %v:\n%s", got.code, err, got.all())
	}
	if after := s.state(); !slices.Equal(before, after) {
		s.Errorf("explain changed the cluster: %v, was %v", after, before)
	}
	secret, err := cluster.Get("v1", "Secret", s.namespace, "a-login")
	if err != nil {
		s.Fatal(err)
	}
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	plain, err := base64.StdEncoding.DecodeString(data["password"])
	for _, text := range []string{"tok-secret-one", data["token"], data["password"], string(plain)} {
		if text == "" || err != nil || strings.Contains(got.all(), text) {
			s.Errorf("explain shows a value of a Secret, or there is none: %v", err)
		}
	}
	return all[0]
}

// TestExplain: a live resource's files, branches and children: what was applied
// and when, what is ready, who else owns which fields, what is left.
func TestExplain(t *testing.T) {
	s := build(t, everything)
	s.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\n")
	s.apply(s.web(spec + ", extra: true, patch: theirs"))
	s.run() // and stops it, so that nothing is mended
	s.apply(s.web(spec + ", patch: theirs"))
	s.apply("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 3}\n")

	r := s.explain()
	files := map[string]explain.File{}
	for _, f := range r.Files {
		files[f.File[strings.LastIndex(f.File, "/")+1:]] = f
	}
	if r.Resource != fmt.Sprintf("Web %s/a", s.namespace) || len(r.Conditions) == 0 || r.Conditions[0].Type != "Ready" ||
		r.Conditions[0].Status != "True" {
		t.Errorf("%s: %v", r.Resource, r.Conditions)
	}
	extra := files["extra.yaml"]
	if extra.Verdict != explain.Empty || len(extra.LeftOut) != 1 || extra.LeftOut[0].By == nil || extra.LeftOut[0].By.Line != 1 {
		t.Errorf("extra.yaml: %+v", extra)
	}
	if len(r.Rest) != 1 || r.Rest[0].Object != "ConfigMap "+s.namespace+"/a-extra" || r.Rest[0].File != "extra" ||
		r.Rest[0].Fate != "it is to be pruned" {
		t.Errorf("left are %+v", r.Rest)
	}
	s.deployment(files["deployment.yaml"])
	if secret := files["secret.yaml"].Documents[0].Live; len(secret.Taken) > 0 || secret.Fate != "" {
		t.Errorf("the Secret is as it was applied: %+v", secret)
	}
	patch := files["patch.yaml"].Documents
	if len(patch) != 1 || patch[0].Patch != "the object" || patch[0].Live == nil || patch[0].Live.Applied == "" || len(patch[0].Because) != 1 {
		t.Errorf("patch.yaml: %+v", patch)
	}
	text := s.as(looker, "explain", "--root", s.root, "webs."+s.group+"/a").stdout
	for _, part := range []string{
		"it is to be changed: others changed spec.replicas\n", "taken from it: spec.replicas\n", "person (apply, ", "owns spec.replicas\n",
		"(patch of the object) at ", "a-extra, once made by extra.yaml: it is to be pruned",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q:\n%s", part, text)
		}
	}
}

// deployment checks what is said of the Deployment whose replicas a person took.
func (s *toolSite) deployment(f explain.File) {
	s.Helper()
	if len(f.Documents) != 1 || f.Documents[0].Live == nil {
		s.Fatalf("deployment.yaml: %+v", f)
	}
	live := f.Documents[0].Live
	if !slices.Equal(live.Taken, []string{"spec.replicas"}) || live.Ready == "" || live.Applied == "" || len(live.Ours) == 0 {
		s.Errorf("the Deployment: %+v", live)
	}
	if !slices.ContainsFunc(live.Others, func(o ownership.Owner) bool {
		return o.Manager == "person" && slices.Equal(o.Paths, []string{"spec.replicas"})
	}) {
		s.Errorf("nobody says that a person owns its replicas: %+v", live.Others)
	}
}

// TestExplainRights: what may not be read is said, and nothing is taken for
// absent.
func TestExplainRights(t *testing.T) {
	s := build(t, everything)
	s.apply(s.web(spec))
	s.run()
	s.bind(viewer, "view")
	a := s.as(viewer, "explain", "--root", s.root, "webs."+s.group+"/a")
	for _, part := range []string{"note: ", `resources: ["secrets"], verbs: ["list"]`, "makes Deployment " + s.namespace + "/a at "} {
		if !strings.Contains(a.stdout, part) {
			t.Errorf("exit %d: it does not say %q:\n%s", a.code, part, a.all())
		}
	}
	if a := s.as(looker, "explain", "--root", s.root, "webs."+s.group+"/nobody"); a.code != 1 ||
		!strings.Contains(a.stderr, "there is none of that name") {
		t.Errorf("exit %d: %s", a.code, a.all())
	}
}

// TestExplainLeft: of what is not rendered now it is said what the operator does
// with it: the rules by which it prunes count.
func TestExplainLeft(t *testing.T) {
	s := build(t, map[string]string{
		"claim.yaml": everything["claim.yaml"],
		"extra.yaml": everything["extra.yaml"],
		"kept.yaml": strings.Replace(everything["extra.yaml"], "{name: {{ .metadata.name }}-extra}",
			"{name: {{ .metadata.name }}-kept, annotations: {jacquard.dev/on-delete: keep}}", 1),
		"plain.yaml": everything["configmap.yaml"],
	})
	s.apply(s.web("text: one, extra: true, claim: true"))
	s.run()
	s.apply(s.web("text: one"))
	child, err := cluster.Get("v1", "ConfigMap", s.namespace, "a-settings")
	if err != nil {
		t.Fatal(err)
	}
	s.apply(fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: copy, labels: {jacquard.dev/owner-uid: %q}}\n",
		child.GetLabels()["jacquard.dev/owner-uid"]))
	text := s.as(looker, "explain", "--root", s.root, "webs."+s.group+"/a").stdout
	for _, part := range []string{
		"/a-data, once made by claim.yaml: it is not rendered any more and stays",
		"jacquard.dev/allow-prune: PersistentVolumeClaim/" + s.namespace + "/a-data/",
		"/a-extra, once made by extra.yaml: it is to be pruned",
		"/a-kept, once made by kept.yaml: it stays, as its annotation jacquard.dev/on-delete: keep says",
		"/copy: it is left alone",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q:\n%s", part, text)
		}
	}
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, "a-extra")
	s.apply(fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a-extra, labels: {jacquard.dev/owner-uid: %q}}\n",
		child.GetLabels()["jacquard.dev/owner-uid"]))
	s.apply(s.web("text: one, extra: true"))
	s.expect(s.as(looker, "explain", "--root", s.root, "webs."+s.group+"/a"), 0, "it is left alone: it was not made by this resource")
}
