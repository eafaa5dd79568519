package faults

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A judge is what a webhook answers; nil: nothing, for as long as it is waited for.
type judge func() *admissionv1.AdmissionResponse

// serveHook serves a webhook over HTTPS at an address, or at any if it is "".
func (s *site) serveHook(address string, says judge) *httptest.Server {
	s.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			s.Error(err)
			return
		}
		if review.Response = says(); review.Response == nil {
			<-r.Context().Done()
			return
		}
		review.Response.UID = review.Request.UID
		json.NewEncoder(w).Encode(review) //nolint:errcheck // who asked may have gone
	}))
	if address != "" {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			s.Fatal(err)
		}
		server.Listener.Close()
		server.Listener = listener
	}
	server.StartTLS()
	s.Cleanup(server.Close)
	return server
}

// hook has a webhook asked about every write of a ConfigMap in the test's
// namespace.
func (s *site) hook(kind string, server *httptest.Server) (remove func()) {
	s.Helper()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	cluster.Apply(s, "", strings.NewReplacer("KIND", kind, "NAME", s.namespace, "URL", server.URL, "BUNDLE",
		base64.StdEncoding.EncodeToString(bundle)).Replace(
		`apiVersion: admissionregistration.k8s.io/v1
kind: KIND
metadata: {name: NAME}
webhooks:
- name: hook.example.com
  clientConfig: {url: "URL", caBundle: BUNDLE}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}
  rules:
  - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}
  timeoutSeconds: 1
  sideEffects: None
  admissionReviewVersions: [v1]
`))
	remove = func() { cluster.Delete(s, "admissionregistration.k8s.io/v1", kind, "", s.namespace) }
	s.Cleanup(remove)
	return remove
}

func allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

// TestWebhookFails: a webhook is down, or does not answer in time. The other
// children are applied, nothing is pruned, the condition names the child and the
// webhook, the writes back off, and all is well once it answers.
func TestWebhookFails(t *testing.T) {
	t.Parallel()
	for name, because := range map[string]string{"down": "connection refused", "slow": "context deadline exceeded"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret,
				"service.yaml": "{{ if .spec.service }}\n" + service + "{{ end }}\n"})
			s.web("text: one, service: true")
			s.rests(rest{children: wantConfigMap + parting + wantSecret + parting + wantService})
			var mute atomic.Bool
			mute.Store(name == "slow")
			server := s.serveHook("", func() *admissionv1.AdmissionResponse {
				if mute.Load() {
					return nil
				}
				return allow()
			})
			s.hook("ValidatingWebhookConfiguration", server)
			if name == "down" {
				server.Close()
			}
			s.works("{}", func(err error, _ map[string]any) bool { return err != nil })
			mark := cluster.Mark(t)
			s.web("text: two, service: false")
			changed := strings.NewReplacer("text: one", "text: two", "b25l", "dHdv").Replace(wantConfigMap + parting + wantSecret)
			s.rests(rest{
				children: wantConfigMap + parting + strings.Replace(wantSecret, "b25l", "dHdv", 1) + parting + wantService,
				because:  `failed calling webhook "hook.example.com"`,
			})
			s.retriesAlone()
			if said := s.message(); !strings.Contains(said, "applying ConfigMap "+s.namespace+"/a") || !strings.Contains(said, because) {
				t.Errorf("it says %q", said)
			}
			if n := kit.Tally(s.sent(mark))["patch configmaps"]; n < 2 || n > 8 {
				t.Errorf("the ConfigMap was tried %d times", n)
			}
			mute.Store(false)
			if name == "down" {
				s.serveHook(server.Listener.Addr().String(), allow)
			}
			s.rests(rest{children: changed})
		})
	}
}

// TestMutatingWebhook: a webhook changes a field of ours at every write, each
// time to something else. It is not fought; the condition Overridden names the
// field, after a restart too, and goes with the webhook.
func TestMutatingWebhook(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret})
	var n atomic.Int64
	server := s.serveHook("", func() *admissionv1.AdmissionResponse {
		answer, how := allow(), admissionv1.PatchTypeJSONPatch
		answer.PatchType = &how
		answer.Patch = fmt.Appendf(nil, `[{"op": "add", "path": "/data/text", "value": "theirs-%d"}]`, n.Add(1))
		return answer
	})
	remove := s.hook("MutatingWebhookConfiguration", server)
	s.works("{text: mine}", func(_ error, data map[string]any) bool { return strings.HasPrefix(fmt.Sprint(data["text"]), "theirs") })
	s.web("text: one")
	want := rest{children: wantSecret + parting + "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"}
	s.rests(want)
	s.is("Overridden", "True", "ConfigMap/a data.text")
	s.patch("v1", "ConfigMap", "a", "kubectl-edit", `{"metadata":{"labels":{"theirs":"x"}}}`)
	s.rests(want)
	s.restart()
	s.rests(want)
	s.is("Overridden", "True", "ConfigMap/a data.text")
	remove()
	s.works("{text: mine}", func(_ error, data map[string]any) bool { return data["text"] == "mine" })
	s.web("text: two")
	s.is("Overridden", "", "")
	s.rests(rest{children: strings.NewReplacer("text: one", "text: two", "b25l", "dHdv").Replace(wantConfigMap + parting + wantSecret)})
}
