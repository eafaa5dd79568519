// Package rights tests that the roles of `jacquard rbac` are sufficient and
// minimal. Operators run with exactly these roles; what they ask the API server
// for is read in its audit log. Nothing is refused, and of every verb of every
// rule there is a request that no other rule allows: without that verb it would
// have been refused.
package rights

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	kit.GuardOwners = true
	// Most of the time, tests wait until this admission knows their kind: the fewer wait
	// after each other, the better.
	flag.Set("test.parallel", "24") //nolint:errcheck // it is a number
	// An API server that streams lists through watches is asked for no list, and
	// one that does not is asked for it.
	os.Setenv("KUBE_FEATURE_WatchListClient", "false") //nolint:errcheck // the name is sound
	kit.Main(m, &cluster, "--nodes", "1", "--components", "etcd,apiserver,controller-manager,scheduler,kwok")
}

// A site is a kind Web of a test's own, and an operator that serves it.
type site struct {
	*testing.T
	group, namespace, root string
	operator               *kit.Operator
	access                 *kit.Access // if it is not the operator's own
	mark                   int64
	limits                 []string // namespaces that the operator is limited to
}

var sites atomic.Int64

// lay writes a folder, in which GROUP and NS stand for the site's.
func lay(t *testing.T, scope string, files map[string]string) *site {
	t.Helper()
	s := &site{T: t, group: fmt.Sprintf("site%d.example.com", sites.Add(1)), namespace: cluster.Namespace(t), root: t.TempDir()}
	crd := strings.ReplaceAll(kit.WebCRD, "scope: Namespaced", "scope: "+scope)
	kit.Write(t, s.root, map[string]string{"crds/" + s.name() + ".yaml": s.fill(crd)})
	s.write(files)
	return s
}

// start starts an operator over the site's root, with all that an operator may
// be started with.
func (s *site) start() {
	s.Helper()
	s.mark = cluster.Mark(s)
	home := cluster.Namespace(s)
	s.operator = cluster.Run(s.T, func(o *controller.Options) {
		o.InstallCRDs, o.Namespace, o.Namespaces = true, home, s.limits
		o.LeaderElectionNamespace = home
	}, s.root)
	cluster.Served(s, s.group+"/v1", "Web")
}

func (s *site) name() string { return "webs." + s.group }

func (s *site) fill(text string) string {
	return strings.NewReplacer("GROUP", s.group, "NS", s.namespace).Replace(text)
}

func (s *site) write(files map[string]string) {
	s.Helper()
	placed := map[string]string{}
	for name, text := range files {
		placed["templates/"+s.name()+"/"+name] = s.fill(text)
	}
	kit.Write(s, s.root, placed)
}

// apply applies documents as a person would.
func (s *site) apply(text string) {
	s.Helper()
	cluster.Apply(s, s.namespace, s.fill(text))
}

// web applies a resource with this spec, in flow style.
func (s *site) web(name, spec string) {
	s.Helper()
	s.apply(fmt.Sprintf("{apiVersion: GROUP/v1, kind: Web, metadata: {name: %s}, spec: {%s}}", name, spec))
}

func (s *site) is(name, condition, status, part string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%s: %s is %s", name, condition, status), func() error {
		o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, name)
		if err != nil {
			return err
		}
		return kit.IsCondition(o, condition, status, part)
	})
}

func (s *site) gone(apiVersion, kind, name string) {
	s.Helper()
	kit.Eventually(s, kind+" "+name+" is gone", func() error {
		return cluster.Gone(s.fill(apiVersion), kind, s.namespace, name)
	})
}

// proof says which requests were refused, and which verb of which rule of a role
// that is judged no request needs; kind is the name of the kind.
func proof(kind string, roles []rbac.Role, judged func(rbac.Role) bool, sent []kit.Request) error {
	var asked []rbac.Request
	var errs []error
	for _, q := range sent {
		if q.Code == 403 {
			errs = append(errs, fmt.Errorf("refused: %s", q))
		}
		asked = append(asked, asks(q, kind)...)
	}
	for i, role := range roles {
		for j, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				if judged(role) && !slices.ContainsFunc(asked, func(q rbac.Request) bool { return q.Verb == verb && needs(roles, [2]int{i, j}, q) }) {
					errs = append(errs, fmt.Errorf("nothing needs %s of %s %s in %s (%q): %v", verb, rule.Group, rule.Resource, role.Name, role.Namespace,
						rule.Why))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// proven waits for the proof of all that was sent: the end of a watch gets into
// the audit log some time after the operator's.
func proven(t *testing.T, kind string, roles []rbac.Role, judged func(rbac.Role) bool, sent func() []kit.Request) {
	t.Helper()
	kit.Eventually(t, "every verb is needed, and none refused", func() error { return proof(kind, roles, judged, sent()) })
}

// verbs counts the verbs of roles.
func verbs(roles []rbac.Role) (n int) {
	for _, role := range roles {
		for _, rule := range role.Rules {
			n += len(rule.Verbs)
		}
	}
	return n
}

// needs reports whether a rule allows a request, and no other.
func needs(roles []rbac.Role, at [2]int, q rbac.Request) bool {
	allowed := false
	for i, role := range roles {
		for j, rule := range role.Rules {
			if !(rbac.Role{Namespace: role.Namespace, Rules: []rbac.Rule{rule}}).Allows(q) {
				continue
			}
			if [2]int{i, j} != at {
				return false
			}
			allowed = true
		}
	}
	return allowed
}

// asks are the questions that the API server puts to its authorizer for one
// request: that of the request, and, when it creates an object, those of server
// side apply and of the admission that guards owner references and roles. That
// these are put is what TestHiddenVerbs shows.
func asks(q kit.Request, kind string) []rbac.Request {
	plain := rbac.Request{Verb: q.Verb, Group: q.Group, Resource: q.Resource, Namespace: q.Namespace, Name: q.Name}
	all := []rbac.Request{plain}
	if q.As != "" {
		parts := strings.Split(q.As, ":")
		all = []rbac.Request{{Verb: "impersonate", Resource: "serviceaccounts", Namespace: parts[2], Name: parts[3]}}
	}
	if q.Verb != "patch" || q.Code != 201 || q.As != "" {
		return all
	}
	made := plain
	made.Verb = "create"
	all = append(all, made)
	plural, group, _ := strings.Cut(kind, ".")
	all = append(all, rbac.Request{Verb: "update", Group: group, Resource: plural + "/finalizers", Namespace: q.Namespace, Name: q.Name})
	switch q.Resource {
	case "roles", "clusterroles":
		made.Verb = "escalate"
		all = append(all, made)
	case "rolebindings": // those of this package bind one
		all = append(all, rbac.Request{Verb: "bind", Group: q.Group, Resource: "clusterroles", Namespace: q.Namespace, Name: "edit"})
	}
	return all
}

// children lists what a resource has, as its status says.
func (s *site) children(name string) []*unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	items, _, _ := unstructured.NestedSlice(o.Object, "status", "children")
	var all []*unstructured.Unstructured
	for _, item := range items {
		m := item.(map[string]any)
		namespace, _ := m["namespace"].(string)
		child, err := cluster.Get(m["apiVersion"].(string), m["kind"].(string), namespace, m["name"].(string))
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, child)
	}
	return all
}

// deleteAll deletes objects as a person would.
func (s *site) deleteAll(all []*unstructured.Unstructured) {
	s.Helper()
	for _, o := range all {
		if err := cluster.Client.Delete(context.Background(), o); err != nil {
			s.Fatal(err)
		}
	}
}
