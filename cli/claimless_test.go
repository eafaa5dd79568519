//go:build !operator

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// forgedReport is the Lease of a user who may write Leases in the namespace team: a report
// about a kind of somebody else.
func forgedReport(t *testing.T, kinds ...any) *unstructured.Unstructured {
	t.Helper()
	report, err := json.Marshal(map[string]any{"version": "v1", "identity": "team/own", "kinds": kinds,
		"missingRoots": []string{"the forger's text"}})
	if err != nil {
		t.Fatal(err)
	}
	lease := object(t, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: own-report, namespace: team, labels: {app.kubernetes.io/part-of: jacquard}}}")
	lease.SetAnnotations(map[string]string{"jacquard.dev/report": string(report)})
	return lease
}

// TestReportWithoutClaimDecidesNothing: a report counts only if its installation holds a
// claim on the CRD, so a forged Lease changes neither an exit code nor what is awaited.
func TestReportWithoutClaimDecidesNothing(t *testing.T) {
	forged := map[string]any{"name": "webs.example.com", "served": "example.com/v1", "state": "FolderInvalid", "message": "the forger's text"}
	for _, c := range []struct {
		args string
		// claims is the other CRD, if the forger's installation holds a claim on it.
		claims    string
		code      int
		text, not string
	}{
		{"status", "", verdict.Unknown.ExitCode(), "team/own", "the forger's text"},
		{"status webs.example.com --wait=1m", "", exitOK, "webs.example.com: Serving", "the forger's text"},
		{"status", "nets.example.com", exitFailed, "a root cannot be read", "webs.example.com is FolderInvalid"},
		{"status webs.example.com --wait=1m", "nets.example.com", exitOK, "webs.example.com: Serving", "the forger's text"},
	} {
		s, kubeconfig, _ := sickCluster(t, http.NotFound)
		s.Put(object(t, "{apiVersion: example.com/v1, kind: Web, metadata: {name: a, namespace: default, uid: u1, generation: 1}, spec: {text: one}, status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}}"))
		s.Put(forgedReport(t, forged))
		if c.claims != "" {
			gvk := kindOf("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false).GVK
			crd := s.Get(gvk, "", c.claims)
			crd.SetAnnotations(map[string]string{"jacquard.dev/operator": "team/own"})
			s.Put(crd)
		}
		var out, errs bytes.Buffer
		code := Main(append(strings.Fields(c.args), "--kubeconfig", kubeconfig), strings.NewReader(""), &out, &errs)
		if text := out.String() + errs.String(); code != c.code || !strings.Contains(text, c.text) || strings.Contains(text, c.not) {
			t.Errorf("%s: exit code %d, want %d, with %q and without %q:\n%s", c.args, code, c.code, c.text, c.not, text)
		}
	}
}

// TestNamedInstallationNeedsNoClaim: whoever names an installation sees what it reports.
func TestNamedInstallationNeedsNoClaim(t *testing.T) {
	for _, flag := range []string{"--installation=team/own", "--operator-namespace=team"} {
		s, kubeconfig, _ := sickCluster(t, http.NotFound)
		s.Put(object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}"))
		s.Put(forgedReport(t))
		var out, errs bytes.Buffer
		code := Main([]string{"status", flag, "--kubeconfig", kubeconfig}, strings.NewReader(""), &out, &errs)
		if code != exitFailed || !strings.Contains(out.String(), "the forger's text") {
			t.Errorf("%s: exit code %d:\n%s%s", flag, code, out.String(), errs.String())
		}
	}
}

// TestClaimlessAreFewAndCanBeShown: a report that names another installation is listed by
// the name that --installation takes, and many forged reports do not hide what is healthy.
func TestClaimlessAreFewAndCanBeShown(t *testing.T) {
	s, kubeconfig, _ := sickCluster(t, http.NotFound)
	s.Put(object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}"))
	for n := range 30 {
		forged := forgedReport(t)
		forged.SetName(fmt.Sprintf("own%02d-report", n))
		s.Put(forged)
	}
	run := func(args ...string) string {
		var out, errs bytes.Buffer
		Main(append([]string{"status", "--kubeconfig", kubeconfig}, args...), strings.NewReader(""), &out, &errs)
		return out.String() + errs.String()
	}
	if text := run(); !strings.Contains(text, "team/own04\n  … and 25 more: --all\n") || strings.Contains(text, "own05") {
		t.Errorf("status:\n%s", text)
	}
	if text := run("--all"); !strings.Contains(text, "team/own29\n") {
		t.Errorf("status --all:\n%s", text)
	}
	if text := run("--installation=team/own00"); !strings.Contains(text, `it says that it is of "team/own"`) {
		t.Errorf("status --installation:\n%s", text)
	}
}

// TestReportsDecideNothingWithoutCRDs: who may not read CRDs cannot tell a forged report from
// another one, so none decides that everything is healthy, or that something is not.
func TestReportsDecideNothingWithoutCRDs(t *testing.T) {
	for _, state := range []string{"Serving", "FolderInvalid"} {
		for args, code := range map[string]int{
			"status": verdict.Unknown.ExitCode(), "status --operator-namespace=team": exitFailed,
			"status webs.example.com --wait=1s": exitFailed,
		} {
			s, kubeconfig, _ := sickCluster(t, http.NotFound)
			s.Put(object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}"))
			s.Put(forgedReport(t, map[string]any{"name": "webs.example.com", "served": "example.com/v1", "state": state, "message": "the forger's text"}))
			s.refused = "/customresourcedefinitions"
			var out, errs bytes.Buffer
			got := Main(append(strings.Fields(args), "--kubeconfig", kubeconfig), strings.NewReader(""), &out, &errs)
			if got != code {
				t.Errorf("%s, %s: exit code %d, want %d:\n%s%s", args, state, got, code, out.String(), errs.String())
			}
		}
	}
}
