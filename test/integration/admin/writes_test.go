package admin

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// tracked is a resource as Argo CD's label tracking, Argo CD, Flux and Helm
// mark it.
func (s *gitopsSite) tracked(name string) string {
	return strings.Replace(s.web(name, "fine"), "spec:", `  labels:
    team: shop
    argocd.argoproj.io/instance: app
    kustomize.toolkit.fluxcd.io/name: apps
    helm.toolkit.fluxcd.io/name: apps
  annotations:
    note: people's
    argocd.argoproj.io/tracking-id: app:webs/Web:ns/a
    argocd.argoproj.io/sync-wave: "2"
    kustomize.toolkit.fluxcd.io/prune: disabled
    meta.helm.sh/release-name: shop
spec:`, 1)
}

// ours is what the operator keeps on a resource, its CRD and its child.
func (s *gitopsSite) ours(name string) map[string]any {
	s.Helper()
	child, err := cluster.Get("v1", "ConfigMap", s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	records := s.liveCRD().GetAnnotations()
	maps.DeleteFunc(records, func(key, _ string) bool { return !strings.HasPrefix(key, "jacquard.dev/") })
	return map[string]any{"records": records, "finalizers": s.get(name).GetFinalizers(), "status": s.get(name).Object["status"],
		"child": child.GetResourceVersion()}
}

// TestWhatToolsWrite: tools that apply a CRD and a resource again, as these are
// in git, take nothing of ours away, see no drift, and cause no write to a
// child; and none of what they track objects by reaches it.
func TestWhatToolsWrite(t *testing.T) {
	s := newSite(t, "writes")
	s.as("kustomize-controller", s.crd())
	cluster.Served(t, s.group+"/v1", "Web")
	s.run()
	s.kubectl(s.tracked("a"), "apply", "-f", "-")
	s.becomes("a", "Ready", "True")
	before := s.ours("a")
	if records := before["records"].(map[string]string); len(records) < 3 || len(before["finalizers"].([]string)) == 0 {
		t.Fatalf("there is nothing to take away: %v", before)
	}
	for name, write := range map[string]func(string){
		"Argo CD":                        func(text string) { s.kubectl(text, "apply", "-f", "-") },
		"Argo CD with server-side apply": func(text string) { s.as("argocd-controller", text) },
		"Flux":                           func(text string) { s.as("kustomize-controller", text) },
		"Helm 4":                         func(text string) { s.as("helm", text) },
	} {
		for _, text := range []string{s.crd(), s.tracked("a")} {
			write(text)
			s.noDrift(name, text)
		}
		s.patch(s.get("a"), fmt.Sprintf(`{"metadata":{"annotations":{"jacquard.dev/reconcile-at":%q}}}`, name))
		s.becomes("a", "Ready", "True")
		if diff := cmp.Diff(before, s.ours("a")); diff != "" {
			t.Errorf("%s: what is ours (-before +after):\n%s", name, diff)
		}
	}
	child, err := cluster.Get("v1", "ConfigMap", s.namespace, "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"team"}, theirs(child.GetLabels())); diff != "" {
		t.Errorf("labels of the child (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"note"}, theirs(child.GetAnnotations())); diff != "" {
		t.Errorf("annotations of the child (-want +got):\n%s", diff)
	}
}

// theirs are the keys that are not the engine's.
func theirs(all map[string]string) []string {
	var keys []string
	for key := range all {
		if !strings.HasPrefix(key, "jacquard.dev/") {
			keys = append(keys, key)
		}
	}
	return keys
}

// noDrift: applying once more, as Flux and Helm look for drift, changes nothing.
func (s *gitopsSite) noDrift(name, text string) {
	s.Helper()
	for _, o := range kit.Parse(s, text) {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(o.GroupVersionKind())
		if err := cluster.Client.Get(context.Background(), client.ObjectKeyFromObject(o), live); err != nil {
			s.Fatal(err)
		}
		if err := cluster.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(o),
			client.FieldOwner("kustomize-controller"), client.ForceOwnership, client.DryRunAll); err != nil {
			s.Fatal(err)
		}
		for _, side := range []*unstructured.Unstructured{o, live} {
			side.SetManagedFields(nil)
			side.SetResourceVersion("")
		}
		if diff := cmp.Diff(live.Object, o.Object); diff != "" {
			s.Errorf("%s: %s drifts (-live +applied):\n%s", name, o.GetKind(), diff)
		}
	}
}

// TestReplaced: to replace takes away what is not in git. On a resource it comes
// back; on a CRD who serves it and what was rolled out does not.
func TestReplaced(t *testing.T) {
	s := newSite(t, "replaced")
	cluster.Apply(t, "", s.crd())
	cluster.Served(t, s.group+"/v1", "Web")
	s.run()
	s.as("kustomize-controller", s.web("a", "fine"))
	s.becomes("a", "Ready", "True")
	finalizers := s.get("a").GetFinalizers()
	s.kubectl(s.web("a", "changed"), "replace", "-f", "-")
	kit.Eventually(t, "the finalizer is there again", func() error {
		if diff := cmp.Diff(finalizers, s.get("a").GetFinalizers()); diff != "" {
			return fmt.Errorf("finalizers: %s", diff)
		}
		return nil
	})
	s.kubectl(s.crd(), "replace", "-f", "-")
	if claim := s.liveCRD().GetAnnotations()["jacquard.dev/operator"]; claim != "" {
		t.Errorf("the claim %q outlived a replacement: docs/gitops.md says otherwise", claim)
	}
}

// TestForeground: Argo CD prunes in the foreground; a resource with our
// finalizer goes then as well, and so does its child.
func TestForeground(t *testing.T) {
	s := newSite(t, "foreground")
	cluster.Apply(t, "", s.crd())
	cluster.Served(t, s.group+"/v1", "Web")
	s.run()
	for _, how := range []string{"foreground", "background"} {
		s.as("kustomize-controller", s.web("a", "fine"))
		s.becomes("a", "Ready", "True")
		s.kubectl("", "delete", s.crdName(), "a", "--namespace", s.namespace, "--cascade="+how, "--wait=false")
		kit.Eventually(t, "the resource is gone", func() error { return cluster.Gone(s.group+"/v1", "Web", s.namespace, "a") })
		kit.Eventually(t, "the child is gone", func() error { return cluster.Gone("v1", "ConfigMap", s.namespace, "a") })
	}
}

// TestAggregatedRoles: a role that Kubernetes puts together drifts only if who
// applies it says what its rules are.
func TestAggregatedRoles(t *testing.T) {
	t.Parallel()
	const role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: aggregated}\n" +
		"aggregationRule: {clusterRoleSelectors: [{matchLabels: {aggregate-to: it}}]}\n"
	s := &gitopsSite{T: t}
	s.as("helm", role)
	s.as("helm", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: part, labels: {aggregate-to: it}}\nrules: [{apiGroups: [\"\"], resources: [pods], verbs: [get]}]\n")
	rules := func() []any {
		o, err := cluster.Get("rbac.authorization.k8s.io/v1", "ClusterRole", "", "aggregated")
		if err != nil {
			t.Fatal(err)
		}
		found, _, _ := unstructured.NestedSlice(o.Object, "rules")
		return found
	}
	kit.Eventually(t, "the role has rules", func() error {
		if len(rules()) != 1 {
			return fmt.Errorf("rules: %v", rules())
		}
		return nil
	})
	s.noDrift("without rules", role)
	emptied := kit.Parse(t, role+"rules: []\n")[0]
	if err := cluster.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(emptied),
		client.FieldOwner("kustomize-controller"), client.ForceOwnership, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if left, _, _ := unstructured.NestedSlice(emptied.Object, "rules"); len(left) != 0 {
		t.Errorf("`rules: []` leaves %v: docs/gitops.md says otherwise", left)
	}
}
