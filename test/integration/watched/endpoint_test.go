package watched

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certutil "k8s.io/client-go/util/cert"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// token makes an account in a namespace, with the right to get the metrics or
// without it, and returns its token.
func token(t *testing.T, ns, name string, mayGet bool) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	if err := cluster.Client.Create(context.Background(), account); err != nil {
		t.Fatal(err)
	}
	if mayGet {
		cluster.Apply(t, ns, fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: metrics-reader}
rules:
- {nonResourceURLs: [/metrics], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s-%[2]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: metrics-reader}
subjects: [{kind: ServiceAccount, namespace: %[1]s, name: %[2]s}]
`, ns, name))
	}
	asked := &authenticationv1.TokenRequest{}
	if err := cluster.Client.SubResource("token").Create(context.Background(), account, asked); err != nil {
		t.Fatal(err)
	}
	return asked.Status.Token
}

// get asks for the metrics, with a token unless it is "", and returns who the
// certificate is for too.
func get(address, token string) (code int, body string, certificate *x509.Certificate, err error) {
	c := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, //nolint:gosec // its certificate is what is tested
	}}
	req, err := http.NewRequest(http.MethodGet, "https://"+address+"/metrics", nil)
	if err != nil {
		return 0, "", nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := c.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(all), answer.TLS.PeerCertificates[0], err
}

// TestEndpoint: who has no token, or not the right, does not get the metrics; nor
// does anybody of whom the API server cannot be asked. It runs alone, since whether an
// operator leads is a metric of the process.
func TestEndpoint(t *testing.T) {
	at, ns := address(t), cluster.Namespace(t)
	o := cluster.Run(t, func(o *controller.Options) {
		o.MetricsSecure, o.MetricsAddress, o.Version = true, at, "v1.2.3"
	})
	allowed, denied := token(t, ns, "allowed", true), token(t, ns, "denied", false)
	kit.Eventually(t, "the metrics are served", func() error {
		_, _, _, err := get(at, "")
		return err
	})
	for _, c := range []struct {
		token string
		want  int
	}{{"", http.StatusUnauthorized}, {"made.up", http.StatusUnauthorized}, {denied, http.StatusForbidden}} {
		code, body, _, err := get(at, c.token)
		if err != nil || code != c.want || strings.Contains(body, "jacquard_") {
			t.Errorf("it answers %d, want %d: %v\n%s", code, c.want, err, body)
		}
	}
	kit.Eventually(t, "who may gets the metrics of an operator at work", func() error { // they are served before it is
		code, body, _, err := get(at, allowed)
		if err != nil || code != http.StatusOK || !strings.Contains(body, `version="v1.2.3"} 1`) ||
			!strings.Contains(body, "\njacquard_leader 1\n") {
			return fmt.Errorf("it answers %d: %w\n%.500s", code, err, body)
		}
		return nil
	})
	if answer, err := http.Get("http://" + at + "/metrics"); err == nil {
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			t.Error("it is served without TLS too")
		}
	}
	o.Access.Deny(func(r rbac.Rule, _ string) bool { return r.Resource == "tokenreviews" })
	n := 0
	kit.Eventually(t, "it cannot ask who that is", func() error {
		n++ // a token that was asked about is known for a while
		if code, body, _, err := get(at, fmt.Sprint("unheard.", n)); err != nil || code != http.StatusInternalServerError {
			return fmt.Errorf("it answers %d: %w\n%s", code, err, body)
		}
		return nil
	})
}

// certify puts a certificate for a name into a directory.
func certify(t *testing.T, dir, name string) {
	t.Helper()
	cert, key, err := certutil.GenerateSelfSignedCertKey(name, []net.IP{{127, 0, 0, 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{"tls.key": key, "tls.crt": cert} {
		if err := os.WriteFile(filepath.Join(dir, file), bytes.Clone(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCertificate: the certificate that is given is used, and read again.
func TestCertificate(t *testing.T) {
	t.Parallel()
	at, dir := address(t), t.TempDir()
	options := func(o *controller.Options) { o.MetricsSecure, o.MetricsAddress, o.MetricsCertPath = true, at, dir }
	missing := controller.Options{Config: cluster.Config}
	options(&missing)
	if _, err := controller.New(missing); err == nil || !strings.Contains(err.Error(), "tls.crt") {
		t.Errorf("without a certificate: %v", err)
	}
	certify(t, dir, "first")
	cluster.Run(t, options)
	for _, name := range []string{"first", "second"} {
		kit.Eventually(t, "the certificate is for "+name, func() error {
			_, _, c, err := get(at, "")
			if err == nil && c.VerifyHostname(name) != nil {
				err = errors.New("it is for " + fmt.Sprint(c.DNSNames))
			}
			return err
		})
		certify(t, dir, "second")
	}
}
