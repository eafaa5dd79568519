package children

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

const rbac = "rbac.authorization.k8s.io/v1"

// inTeam are the children of a team with members ann and bob whose namespace is
// the test's with that suffix.
func (s *site) inTeam(suffix string) []string {
	ns := s.namespace + suffix
	return []string{
		"Namespace/" + ns, "ResourceQuota/" + ns + "/" + s.name(), "NetworkPolicy/" + ns + "/" + s.name(),
		"RoleBinding/" + ns + "/" + s.name() + "-ann", "RoleBinding/" + ns + "/" + s.name() + "-bob",
	}
}

// TestTeam: a cluster-scoped resource has a Namespace, and children in it. They
// all go with it.
func TestTeam(t *testing.T) {
	s := build(t, "teams", "Team", nil)
	s.apply("namespace: NAMESPACE-red, members: [ann, bob]")
	s.rests("", s.inTeam("-red")...)
	s.apply("namespace: NAMESPACE-red, members: [ann, bob], pods: 3")
	s.ready()
	if hard := s.in("-red", "v1", "ResourceQuota").Object["spec"].(map[string]any)["hard"]; fmt.Sprint(hard) != "map[pods:3]" {
		t.Errorf("the quota is %v", hard)
	}
	cluster.Delete(t, rbac, "RoleBinding", s.namespace+"-red", s.name()+"-ann")
	s.rests("", s.inTeam("-red")...)
	red := s.get("v1", "Namespace", s.namespace+"-red")
	s.patch(red, `{"metadata":{"finalizers":["example.com/held"]}}`) // until it is seen
	cluster.Delete(t, "v1", "Namespace", "", red.GetName())
	s.is("Ready", "False", "")
	s.patch(red, `{"metadata":{"finalizers":null}}`)
	s.rests("", s.inTeam("-red")...)
	if f := s.owner().GetFinalizers(); len(f) > 0 {
		t.Errorf("finalizers %v, though the garbage collector reaches everything", f)
	}
	s.goes()
	s.away("v1", "Namespace", "", s.namespace+"-red")
}

// in is the team's child in its namespace.
func (s *site) in(suffix, apiVersion, kind string) *unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get(apiVersion, kind, s.namespace+suffix, s.name())
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// TestTeamElsewhere: a team gets nothing in namespaces of others.
func TestTeamElsewhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ namespace, because string }{
		"kube-system": {"kube-system", "nothing may be in the namespaces kube-*"},
		"somebody's":  {"NAMESPACE", "Namespace NAMESPACE: an object of this name is there already and is left alone"},
		"no name":     {"No/name", "no valid name"},
	} {
		t.Run(name, func(t *testing.T) {
			s := build(t, "teams", "Team", nil)
			before := s.get("v1", "Namespace", s.namespace)
			s.apply("namespace: " + c.namespace + ", members: [ann]")
			s.rests(c.because)
			s.is("Stalled", "True", c.because)
			for _, kind := range []string{"v1 ResourceQuota", "networking.k8s.io/v1 NetworkPolicy", rbac + " RoleBinding"} {
				if n := s.count(kind, s.ours(c.namespace)); n > 0 {
					t.Errorf("%d of %s", n, kind)
				}
			}
			if after := s.get("v1", "Namespace", s.namespace); after.GetResourceVersion() != before.GetResourceVersion() {
				t.Errorf("the namespace is %v, was %v", after, before)
			}
			s.goes()
			s.get("v1", "Namespace", s.namespace)
		})
	}
}

// count is how many objects with the resource's uid are in a namespace.
func (s *site) count(kind, namespace string) int {
	s.Helper()
	n := 0
	for _, o := range s.everything() {
		if o.GetAPIVersion()+" "+o.GetKind() == kind && o.GetNamespace() == namespace {
			n++
		}
	}
	return n
}

// TestTeamRenamed: a Namespace that is not rendered any more is kept, with all
// that is in it, until the resource allows that it goes.
func TestTeamRenamed(t *testing.T) {
	s := build(t, "teams", "Team", nil)
	s.apply("namespace: NAMESPACE-red, members: [ann, bob]")
	s.ready()
	red := s.get("v1", "Namespace", s.namespace+"-red")
	s.apply("namespace: NAMESPACE-blue, members: [ann, bob]")
	allowance := s.allowance("v1", "Namespace", s.namespace+"-red")
	s.is("Stalled", "True", "allow-prune="+allowance)
	s.rests("allow-prune", append(s.inTeam("-blue"), s.inTeam("-red")...)...)
	if now := s.get("v1", "Namespace", s.namespace+"-red"); now.GetUID() != red.GetUID() || now.GetDeletionTimestamp() != nil {
		t.Errorf("the Namespace is %v", now)
	}
	s.annotate("jacquard.dev/allow-prune", allowance)
	s.away("v1", "Namespace", "", s.namespace+"-red")
	s.rests("", s.inTeam("-blue")...)
	s.goes()
	s.away("v1", "Namespace", "", s.namespace+"-blue")
}

// far is a ClusterRole, which a namespaced resource can have if its kind says
// so.
const far = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .metadata.namespace }}-{{ .metadata.name }}-%s
rules:
- {apiGroups: [""], resources: [pods], verbs: [get]}
`

const clusterRoles = `children:
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}
`

// TestFarChildren: children out of the garbage collector's reach go before the
// resource does, with one request for each, one that records that they are to go, and
// one that lets the resource go.
func TestFarChildren(t *testing.T) {
	s := ordered(t, map[string]string{"kind.yaml": clusterRoles, "one.yaml": fmt.Sprintf(far, "one"), "two.yaml": fmt.Sprintf(far, "two"),
		"three.yaml": fmt.Sprintf(far, "three")})
	mark := cluster.Mark(t)
	s.apply("")
	s.rests("", s.far("one", "two", "three")...)
	made := kit.Tally(s.sent(mark))
	if made["patch clusterroles"] != 3 || made["patch things"] != 1 {
		t.Errorf("to make it, the operator sent %v", made)
	}
	mark = cluster.Mark(t)
	s.goes()
	for _, name := range []string{"one", "two", "three"} {
		if err := cluster.Gone(rbac, "ClusterRole", "", s.namespace+"-a-"+name); err != nil {
			t.Error(err)
		}
	}
	kit.Eventually(t, "the audit log has it all", func() error {
		all := s.sent(mark)
		// A write that is refused, since a watch is late, is sent again.
		sent := kit.Tally(slices.DeleteFunc(slices.Clone(all), func(r kit.Request) bool { return r.Code >= http.StatusBadRequest }))
		if sent["delete clusterroles"] != 3 || sent["patch things"] != 2 || sent["patch things/status"] > 3 || len(sent) > 3 || len(all) > 8 {
			return fmt.Errorf("the operator sent %v", all)
		}
		return nil
	})
}

func (s *site) far(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, "ClusterRole/"+s.namespace+"-a-"+name)
	}
	return all
}

// list lists the objects of a kind in the test's namespace.
func (s *site) list(apiVersion, kind string) []unstructured.Unstructured {
	s.Helper()
	return cluster.List(s, apiVersion, kind, client.InNamespace(s.namespace))
}
