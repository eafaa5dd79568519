//go:build !operator

package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/memory"
)

// TestApproveActsAfterYes: without --yes, and with a pin that does not fit, approve
// writes nothing. Where the list of deletions cannot be read, it says how many there are.
func TestApproveActsAfterYes(t *testing.T) {
	s, kubeconfig, _ := sickCluster(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	record := rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "250c9685a8a1aede"}}, State: rollout.Stopped, Reason: rollout.Deletes, DeletionCount: 38,
		Stop:    "250c9685a8a1aede/Deletes/Zk3wq0aP",
		Message: "it would delete 38 of 60 children", Total: 38}
	for i := range 20 {
		record.DeletionNames = append(record.DeletionNames, fmt.Sprintf("Service shop/web-%02d", i))
	}
	crd := object(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: webs.example.com}}")
	change := func(r rollout.Record) {
		s.Change(crd, "somebody", func(o *unstructured.Unstructured) {
			all := o.GetAnnotations()
			all["jacquard.dev/rollout"] = r.String()
			o.SetAnnotations(all)
		})
	}
	change(record)
	approved := func() string {
		return s.Get(crd.GroupVersionKind(), "", crd.GetName()).GetAnnotations()["jacquard.dev/approved"]
	}
	const pin = "250c9685a8a1aede/Deletes/Zk3wq0aP"
	for _, c := range []struct {
		args string
		code int
		out  []string
	}{
		{"web", 1, []string{"deletes 20 Service:\n  shop/web-00\n", "and 18 more that cannot be listed: ", "nothing was changed",
			"  jacquard approve webs.example.com --kubeconfig " + kubeconfig + " --stop " + pin + " --yes\n"}},
		{"web --dry-run --installation default/jacquard", 0, []string{" --installation default/jacquard --kubeconfig"}},
		{"web --stop 0011223344556677/Deletes/Zk3wq0aP --yes", 1, []string{"the folder changed, from 0011223344556677 to 250c9685a8a1aede"}},
		{"web --stop 250c9685a8a1aede/Deletes/other --yes", 1, []string{"it would delete other children than then: now 38"}},
		{"web --stop " + pin + " --dry-run", 0, []string{"deletes 20 Service"}},
		{"web --all-waves --yes", 1, []string{"it stopped for Deletes, which is approved for what it names alone"}},
	} {
		before := len(s.Requests())
		var out bytes.Buffer
		args := append([]string{"approve"}, append(strings.Fields(c.args), "--kubeconfig", kubeconfig)...)
		if code := Main(args, strings.NewReader("y\n"), &out, &out); code != c.code {
			t.Errorf("%s: exit %d, want %d: %s", c.args, code, c.code, out.String())
		}
		for _, part := range c.out {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: no %q in %s", c.args, part, out.String())
			}
		}
		if i := slices.IndexFunc(s.Requests()[before:], memory.Request.Writes); i >= 0 || approved() != "" {
			t.Errorf("%s: it wrote %s", c.args, s.Requests()[before:][max(i, 0)])
		}
	}
	record.Moved, record.Ready = 3, 2 // what becomes of resources changes nothing
	change(record)
	var out bytes.Buffer
	if code := Main([]string{"approve", "web", "--stop", pin, "--yes", "--kubeconfig", kubeconfig}, nil, &out, &out); code != 0 || approved() != pin {
		t.Errorf("exit %d, approved is %q: %s", code, approved(), out.String())
	}
}
