package kinds

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestNoKinds: the roles that an installation has without kinds are enough for
// the operator that has none.
func TestNoKinds(t *testing.T) {
	t.Parallel()
	for _, limited := range []string{"", cluster.Namespace(t)} {
		in := prepare(t, newKind(t, "none.example.com", nil), limited)
		op := in.run(t)
		kit.Eventually(t, "the operator is ready", op.Ready)
		op.Stop(t)
		for _, resource := range []string{"customresourcedefinitions", "apiservices", "configmaps"} {
			kit.Eventually(t, "the log says that the operator watched "+resource, func() error { return in.asked(t, "watch", resource) })
		}
		for _, r := range in.requests(t, in.mark) {
			if r.Code == 403 {
				t.Error(r)
			}
		}
	}
}

// asked says that the operator did not send such a request.
func (in *installed) asked(t *testing.T, verb, resource string) error {
	t.Helper()
	all := in.requests(t, in.mark)
	if slices.ContainsFunc(all, func(r kit.Request) bool { return r.Verb == verb && r.Resource == resource }) {
		return nil
	}
	return fmt.Errorf("it sent %v", all)
}

// TestSameFolder: a kind whose folder came from a root, as out of an image, and
// comes from what pack prints later, is the same kind: nothing is written.
func TestSameFolder(t *testing.T) {
	t.Parallel()
	k := newKind(t, "same.example.com", map[string]string{
		"map.yaml": configMap +
			"  more: {{ include \"more\" . }}\n  file: {{ file \"text.txt\" }}\n  set: {{ quote (config \"set\") }}\n",
		"_own.tpl":          "{{ define \"own\" }}own{{ end }}",
		"files/text.txt":    "text\n",
		"config.yaml":       "set: 1\n",
		"../_lib/more.tpl":  "{{ define \"more\" }}more {{ include \"own\" . }}{{ end }}",
		"../_lib/other.tpl": "{{ define \"other\" }}other{{ end }}",
	})
	in := prepare(t, k, "")
	ns := cluster.Namespace(t)
	in.kubectl(t, in.pack(t, in.crd(), "--include", "roles,users,crd"), "apply", "-f", "-")
	op := in.run(t, in.root)
	in.make(t, ns, "one")
	in.ready(t, ns, "one")
	kit.Eventually(t, "the CRD says how the kind is served", func() error {
		crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.crd())
		if err == nil && crd.GetAnnotations()[api.AnnotationState] != string(verdict.Serving) {
			err = fmt.Errorf("it is annotated with %v", crd.GetAnnotations())
		}
		return err
	})
	op.Stop(t)

	mark := cluster.Mark(t)
	in.kubectl(t, in.pack(t, in.crd(), "--include", "folder"), "apply", "-f", "-")
	in.run(t)
	in.make(t, ns, "two")
	in.ready(t, ns, "two")
	for _, r := range kit.Writes(in.requests(t, mark)) {
		if r.Verb != "watch" && (r.Name == "one" || r.Resource == "customresourcedefinitions") {
			t.Errorf("%s: the folder is another one", r)
		}
	}
}
