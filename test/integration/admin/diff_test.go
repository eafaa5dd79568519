package admin

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// everything is a folder with a file for each thing that can become of a child.
var everything = map[string]string{
	"configmap.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}-settings}
data: {text: {{ .spec.text }}, fixed: always}
`,
	"extra.yaml": `{{- if .spec.extra }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .metadata.name }}-extra}
data: {text: more}
{{- end }}
`,
	"immutable.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}-fixed
  annotations: {jacquard.dev/on-immutable: recreate}
immutable: true
data: {size: {{ .spec.size | toString }}}
`,
	"secret.yaml": `apiVersion: v1
kind: Secret
metadata: {name: {{ .metadata.name }}-login}
stringData: {token: {{ .spec.token }}, password: {{ stable "secret" "password" 24 }}}
`,
	"patch.yaml": `{{- if .spec.patch }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .spec.patch }}
  annotations: {jacquard.dev/ownership: patch}
data: {ours: {{ .spec.text }}}
{{- end }}
`,
	"deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .metadata.name }}}
spec:
  replicas: {{ .spec.replicas }}
  selector: {matchLabels: {web: {{ .metadata.name }}}}
  template:
    metadata: {labels: {web: {{ .metadata.name }}}}
    spec: {containers: [{name: web, image: example.com/web:1}]}
`,
	"claim.yaml": `{{- if .spec.claim }}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ .metadata.name }}-data
  annotations: {jacquard.dev/on-delete: delete}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
{{- end }}
`,
	"service.yaml": `{{- if .spec.balanced }}
apiVersion: v1
kind: Service
metadata: {name: {{ .metadata.name }}}
spec: {type: LoadBalancer, selector: {web: {{ .metadata.name }}}, ports: [{port: 80}]}
{{- end }}
`,
	"foreign.yaml": `{{- if .spec.foreign }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .spec.foreign }}}
data: {text: ours}
{{- end }}
`,
}

const spec = "text: one, size: 1, replicas: 1, token: tok-secret-one"

// TestNothing: a converged resource has no diff, and finding that out sends no
// write, not even a dry run.
func TestNothing(t *testing.T) {
	s := build(t, everything)
	s.apply(s.web(spec))
	s.run()
	s.apply(admin)
	kit.Eventually(t, testOperator+" may look", func() error {
		if a := s.as(testOperator, "tree", "webs."+s.group+"/a"); a.code != 0 {
			return errors.New(a.all())
		}
		return nil
	})
	mark := cluster.Mark(t)
	got := s.as(testOperator, "diff", "--root", s.root, "webs."+s.group+"/a")
	if got.code != 0 || !strings.Contains(got.stdout, "nothing would change") {
		t.Errorf("exit %d:\n%s", got.code, got.all())
	}
	for _, r := range kit.Writes(cluster.AllRequests(t, mark)) {
		if r.Namespace == s.namespace || strings.Contains(r.Resource, s.group) {
			t.Errorf("diff sent %s", r)
		}
	}
	if got := s.diff(0, s.file(s.web(spec))); !strings.Contains(got.stdout, "nothing would change") {
		t.Errorf("the same as a file:\n%s", got.all())
	}
}

// TestNulls: a file may have nulls where kubectl create accepts them, for a resource that is new
// and for one that is there.
func TestNulls(t *testing.T) {
	s := build(t, everything)
	for verb, name := range map[string]string{"create": "created", "apply": "applied"} {
		file := s.file(fmt.Sprintf("{apiVersion: %s, kind: Web, metadata: {name: %s, namespace: %s, labels: null, annotations: null, creationTimestamp: null}, "+
			"spec: {%s, patch: null, extra: null}, status: null}", s.apiVersion(), name, s.namespace, spec))
		s.diff(1, file)
		kubectl(s, "", verb, "-f", file)
		s.diff(1, file)
	}
}

// testOperator is the user whose requests the audit log keeps; by admin it may
// do everything.
const (
	testOperator = "operator"
	admin        = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: tools-of-operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ` + kit.User + `}]
`
)

// TestNew: a resource that is not there yet.
func TestNew(t *testing.T) {
	s := build(t, everything)
	want := map[string]diff.Verb{
		"ConfigMap/a-settings": diff.Created, "ConfigMap/a-fixed": diff.Created, "ConfigMap/a-extra": diff.Created,
		"Secret/a-login": diff.Created, "Deployment/a": diff.Created, "PersistentVolumeClaim/a-data": diff.Created,
	}
	got := s.resources(1, s.file(s.web(spec+", extra: true, claim: true")))[0]
	if d := cmp.Diff(want, verbs(got)); d != "" {
		t.Error(d)
	}
	if got.Self == nil || got.Self.Verb != diff.Created {
		t.Errorf("the resource itself: %v", got.Self)
	}
	s.unseen(s.diff(1, s.file(s.web(spec))), "a-login", "tok-secret-one")
}

// TestEach: each thing that can become of a child.
func TestEach(t *testing.T) {
	s := build(t, everything)
	s.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\ndata: {text: theirs}\n")
	s.apply(s.web(spec + ", extra: true, claim: true, patch: theirs"))
	s.run()
	next := "text: two, size: 2, replicas: 3, token: tok-secret-two, patch: theirs"
	file := s.file(s.web(next))
	want := map[string]diff.Verb{
		"ConfigMap/a-settings": diff.Changed, "ConfigMap/a-fixed": diff.Recreated, "ConfigMap/a-extra": diff.Pruned,
		"ConfigMap/theirs": diff.Patched,
		"Secret/a-login":   diff.Changed, "Deployment/a": diff.Changed, "PersistentVolumeClaim/a-data": diff.Blocked,
	}
	if d := cmp.Diff(want, s.verbs(1, file)); d != "" {
		t.Error(d)
	}
	text := s.diff(1, file)
	for _, part := range []string{"-  text: one\n", "+  text: two\n", "-  replicas: 1\n", "+  replicas: 3\n", "configmap.yaml:1",
		"-  ours: one\n", "+  ours: two\n"} {
		if !strings.Contains(text.stdout, part) {
			t.Errorf("it does not say %q:\n%s", part, text.all())
		}
	}
	s.unseen(text, "a-login", "tok-secret-one", "tok-secret-two")
	given := s.verbs(1, s.file(s.web(spec+", extra: true, claim: true")))
	if given["ConfigMap/theirs"] != diff.Released {
		t.Errorf("the patch is %s, want released", given["ConfigMap/theirs"])
	}
	s.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: foreign}\ndata: {text: theirs}\n")
	refused := s.diff(2, s.file(s.web(spec+", extra: true, claim: true, patch: theirs, foreign: foreign")))
	if !strings.Contains(refused.stdout, "refused     ConfigMap "+s.namespace+"/foreign") ||
		!strings.Contains(refused.stdout, "it was not made by this resource") {
		t.Errorf("a foreign object:\n%s", refused.all())
	}
	bad := s.diff(2, s.file(s.web("text: one, size: 1, replicas: -1, token: t, claim: true, extra: true, patch: theirs")))
	if !strings.Contains(bad.stdout, "refused     Deployment") || !strings.Contains(bad.stdout, "spec.replicas") ||
		!strings.Contains(bad.stdout, "deployment.yaml:5") {
		t.Errorf("what the API refuses:\n%s", bad.all())
	}
}

// unseen fails if a secret is in the part of an answer about its Secret, or in
// base64 anywhere; the resource's own spec, which the author wrote, holds it.
func (s *toolSite) unseen(a toolAnswer, name string, secrets ...string) {
	s.Helper()
	from := strings.Index(a.stdout, "Secret "+s.namespace+"/"+name)
	if from < 0 {
		s.Fatalf("it does not speak of the Secret:\n%s", a.all())
	}
	about := a.stdout[from:]
	if end := strings.Index(about, "\n  pruned"); end > 0 {
		about = about[:end]
	}
	if !strings.Contains(about, "hidden") {
		s.Errorf("no value is hidden:\n%s", about)
	}
	for _, secret := range secrets {
		if strings.Contains(about, secret) || strings.Contains(a.all(), base64Of(secret)) {
			s.Errorf("a secret is shown:\n%s", a.all())
		}
	}
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
