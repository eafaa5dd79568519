//go:build !operator

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/test/kit"
	"github.com/jacquard-operator/jacquard/test/memory"
)

// A sickServer is an API server in memory that lists one kind, Sick, not at all.
type sickServer struct {
	*memory.Server
	// answer answers what is asked about Sicks.
	answer http.HandlerFunc
	asked  atomic.Int64
	// delay, if there is one, is called before a list of another kind is answered.
	delay func(*http.Request)
	// refused is a part of the paths that the user may not read, or "".
	refused string
}

// ServeHTTP answers a request.
func (s *sickServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.Contains(r.URL.Path, "/sicks"):
		s.asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		s.answer(w, r)
		return
	case s.refused != "" && strings.Contains(r.URL.Path, s.refused):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"forbidden"}`)
		return
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","status":{"allowed":true}}`)
		return
	}
	if s.delay != nil {
		s.delay(r)
	}
	answer, err := s.RoundTrip(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer answer.Body.Close()
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}

func kindOf(group, kind, plural string, namespaced bool) live.Resource {
	gv := schema.GroupVersion{Group: group, Version: "v1"}
	return live.Resource{GVR: gv.WithResource(plural), GVK: gv.WithKind(kind), Namespaced: namespaced}
}

// sickCluster is a cluster with a kind Web, whose resource "a" has a ConfigMap and a Sick.
func sickCluster(t *testing.T, answer http.HandlerFunc) (s *sickServer, kubeconfig, root string) {
	t.Helper()
	s = &sickServer{answer: answer, Server: memory.New(
		kindOf("", "Namespace", "namespaces", false), kindOf("", "ConfigMap", "configmaps", true), kindOf("", "Pod", "pods", true),
		kindOf("", "ServiceAccount", "serviceaccounts", true), kindOf("apps", "Deployment", "deployments", true),
		kindOf("apps", "ControllerRevision", "controllerrevisions", true), kindOf("coordination.k8s.io", "Lease", "leases", true),
		kindOf("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false),
		kindOf("example.com", "Web", "webs", true), kindOf("example.com", "Net", "nets", true), kindOf("sick.example.com", "Sick", "sicks", true))}
	crd := strings.ReplaceAll(kit.WebCRD, "GROUP", "example.com")
	for _, text := range []string{crd, strings.NewReplacer("webs", "nets", "web", "net", "Web", "Net").Replace(crd)} {
		definition := object(t, text)
		definition.SetAnnotations(map[string]string{"jacquard.dev/child-kinds": "ConfigMap,Deployment.apps,Sick.sick.example.com", "jacquard.dev/operator": "default/jacquard"})
		s.Put(definition)
	}
	report, err := json.Marshal(map[string]any{"version": "v1", "identity": "default/jacquard",
		"kinds": []any{map[string]any{"name": "nets.example.com", "served": "example.com/v1", "state": "Serving"},
			map[string]any{"name": "webs.example.com", "served": "example.com/v1", "state": "Serving"}}})
	if err != nil {
		t.Fatal(err)
	}
	lease := object(t, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: jacquard-report, namespace: default, labels: {app.kubernetes.io/part-of: jacquard}}}")
	lease.SetAnnotations(map[string]string{"jacquard.dev/report": string(report)})
	s.Put(lease)
	s.Put(object(t, "{apiVersion: example.com/v1, kind: Web, metadata: {name: a, namespace: default, uid: u1, generation: 1, finalizers: [jacquard.dev/cleanup]}, spec: {text: one}}"))
	child := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, labels: {jacquard.dev/owner-uid: u1}, annotations: {jacquard.dev/owner: webs.example.com/default/a, jacquard.dev/file: map}, ownerReferences: [{apiVersion: example.com/v1, kind: Web, name: a, uid: u1, controller: true}]}, data: {text: one}}")
	s.Apply(child, "jacquard")

	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	dir := t.TempDir()
	kubeconfig = filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {}}]}", at.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(dir, "root")
	kit.Write(t, root, map[string]string{
		"crds/webs.example.com.yaml":           crd,
		"schemas/sicks.sick.example.com.yaml":  strings.NewReplacer("GROUP", "sick.example.com", "webs", "sicks", "web", "sick", "Web", "Sick").Replace(kit.WebCRD),
		"templates/webs.example.com/map.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n  text: {{ .spec.text }}\n",
		"templates/webs.example.com/sick.yaml": "apiVersion: sick.example.com/v1\nkind: Sick\nmetadata:\n  name: {{ .metadata.name }}\n",
		"examples/webs.example.com.yaml":       "apiVersion: example.com/v1\nkind: Web\nmetadata:\n  name: a\nspec:\n  text: one\n",
	})
	return s, kubeconfig, root
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestCommandsWithASickKind: while one kind is refused with Retry-After, or not answered,
// every command prints the rest and what it could not read, and waits for that kind as long as for one request.
func TestCommandsWithASickKind(t *testing.T) {
	const refused, silent = "storage is (re)initializing", "the API server gave no answer within 300ms"
	before := requestLimit
	requestLimit = 300 * time.Millisecond
	defer func() { requestLimit = before }()
	for reason, answer := range map[string]http.HandlerFunc{
		refused: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"TooManyRequests","code":429,"message":"`+refused+`"}`)
		},
		silent: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		for _, c := range []struct {
			args string
			code int
			// says is what it prints besides the reason; reads: it has to read Sicks.
			says  []string
			reads bool
		}{
			{"status", 1, []string{"webs.example.com", "Serving", "1: 1 not served yet"}, true},
			{"tree webs/a", 0, []string{"ConfigMap a"}, true},
			{"explain webs/a --root ROOT", 0, []string{"ConfigMap default/a", "sick.yaml: rendered", "    not known: "}, true},
			{"diff ROOT/examples/webs.example.com.yaml --root ROOT", 2, []string{"ConfigMap default/a", "blocked"}, true},
			{"sweep webs.example.com", 0, []string{"every child that could be listed has its resource"}, true},
			{"sweep gone.example.com", 0, []string{"every child that could be listed has its resource"}, true},
			{"eject webs.example.com", 1, []string{"child", "configmaps", "resource"}, true},
			{"adopt webs/a --root ROOT", 1, []string{"Sick default/a"}, true},
			{"history webs.example.com", 0, []string{"no revision"}, false},
			{"rollback webs.example.com --end", 1, []string{"is not rolled back"}, false},
			{"approve webs.example.com", 1, []string{"no rollout"}, false},
			{"rbac --check --root ROOT", 0, []string{"nothing is missing"}, false},
			{"lint --against cluster --root ROOT", 0, []string{"1 kind"}, false},
		} {
			t.Run(reason+"/"+c.args, func(t *testing.T) {
				s, kubeconfig, root := sickCluster(t, answer)
				var out, errs bytes.Buffer
				args := append(strings.Fields(strings.ReplaceAll(c.args, "ROOT", root)), "--kubeconfig", kubeconfig)
				code := Main(args, strings.NewReader(""), &out, &errs)
				text := out.String() + errs.String()
				if code != c.code {
					t.Errorf("exit code %d, want %d", code, c.code)
				}
				wants := c.says
				if c.reads {
					wants = append(wants, "sicks.sick.example.com", reason)
				}
				for _, want := range wants {
					if !strings.Contains(text, want) {
						t.Errorf("it does not say %q", want)
					}
				}
				most := int64(2) // two kinds have Sicks, and are looked at together
				if reason == refused {
					most = 6 // each list is followed by a question for the reason
				}
				if n := s.asked.Load(); n > most || c.reads != (n > 0) {
					t.Errorf("it sent %d requests about Sicks", n)
				}
				if t.Failed() {
					t.Log(text)
				}
			})
		}
	}
}

// TestKindsAreListedTogether: kinds are listed at the same time, so that several that hang
// cost the time of one. Here neither is answered before both are asked about.
func TestKindsAreListedTogether(t *testing.T) {
	for args, together := range map[string][]string{
		"status":                 {"/apis/example.com/v1/webs", "/apis/example.com/v1/nets"},
		"sweep webs.example.com": {"/api/v1/configmaps", "/apis/apps/v1/deployments"},
		"sweep gone.example.com": {"/api/v1/configmaps", "/apis/apps/v1/deployments"},
		"eject webs.example.com": {"/api/v1/configmaps", "/apis/apps/v1/deployments"},
		"tree webs/a":            {"/api/v1/configmaps", "/apis/apps/v1/deployments"},
	} {
		t.Run(args, func(t *testing.T) {
			s, kubeconfig, _ := sickCluster(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"List","metadata":{},"items":[]}`)
			})
			var both sync.WaitGroup
			both.Add(len(together))
			var once [2]sync.Once
			s.delay = func(r *http.Request) {
				i := slices.Index(together, r.URL.Path)
				if i < 0 {
					return
				}
				once[i].Do(both.Done)
				done := make(chan struct{})
				go func() { both.Wait(); close(done) }()
				select {
				case <-done:
				case <-r.Context().Done():
				}
			}
			var out, errs bytes.Buffer
			Main(append(strings.Fields(args), "--kubeconfig", kubeconfig), strings.NewReader(""), &out, &errs)
			if text := out.String() + errs.String(); strings.Contains(text, "gave no answer") {
				t.Errorf("it says\n%s", text)
			}
		})
	}
}
