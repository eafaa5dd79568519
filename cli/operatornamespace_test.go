//go:build !operator

package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/admin/health"
)

// TestOperatorNamespaceFlag: one flag names the operator's namespace wherever there is one,
// and -n is the resources'.
func TestOperatorNamespaceFlag(t *testing.T) {
	started := false
	root := newRoot(&started)
	var operators, resources []string
	for _, cmd := range root.Commands() {
		if cmd.Flags().Lookup("operator-namespace") != nil {
			operators = append(operators, cmd.Name())
		}
		if f := cmd.Flags().ShorthandLookup("n"); f != nil && !f.Hidden {
			resources = append(resources, cmd.Name())
		}
	}
	if want := []string{"approve", "diff", "history", "rollback", "run", "status", "ui"}; !slices.Equal(operators, want) {
		t.Errorf("--operator-namespace is a flag of %v, want %v", operators, want)
	}
	if want := []string{"adopt", "diff", "explain", "status", "sweep", "tree"}; !slices.Equal(resources, want) {
		t.Errorf("-n is a flag of %v, want %v", resources, want)
	}
}

// TestNamespaceIsNotTheOperators: where --namespace could be meant as the operator's, it is
// refused and its successor is named.
func TestNamespaceIsNotTheOperators(t *testing.T) {
	for _, command := range []string{"history webs", "rollback webs", "run"} {
		for _, flag := range []string{"-n ops", "--namespace ops", "--namespace=ops"} {
			var out, errs bytes.Buffer
			code := Main(strings.Fields(command+" "+flag+" --kubeconfig /nowhere"), strings.NewReader(""), &out, &errs)
			if code != exitUsage || !strings.Contains(errs.String(), "--operator-namespace") {
				t.Errorf("%s %s: exit code %d: %s", command, flag, code, errs.String())
			}
		}
	}
}

// TestStatusOfOperatorNamespace: --operator-namespace restricts which operators are looked
// for, and -n which resources.
func TestStatusOfOperatorNamespace(t *testing.T) {
	for _, c := range []struct {
		flags     string
		operators int
		resources int
	}{
		{"", 1, 1},
		{"--operator-namespace default", 1, 1},
		{"--operator-namespace ops", 0, 0},
		{"-n ops", 1, 0},
		{"-n ops --operator-namespace default", 1, 0},
	} {
		s, kubeconfig, _ := sickCluster(t, http.NotFound)
		s.Put(object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: default}}"))
		s.Put(object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: ops}}"))
		var out, errs bytes.Buffer
		Main(append(strings.Fields("status -o json "+c.flags), "--kubeconfig", kubeconfig), strings.NewReader(""), &out, &errs)
		var h health.Health
		if err := json.Unmarshal(out.Bytes(), &h); err != nil {
			t.Fatalf("status %s: %v: %s", c.flags, err, errs.String())
		}
		resources := 0
		for _, i := range h.Installations {
			for _, k := range i.Kinds {
				if k.Resources != nil {
					resources += k.Resources.Total
				}
			}
		}
		if len(h.Installations) != c.operators || resources != c.resources {
			t.Errorf("status %s: %d operators and %d resources, want %d and %d", c.flags, len(h.Installations), resources,
				c.operators, c.resources)
		}
		if c.operators == 0 && len(h.Forsaken) > 0 {
			t.Errorf("status %s: claims of other operators are looked at: %+v", c.flags, h.Forsaken)
		}
	}
}
