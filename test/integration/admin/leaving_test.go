package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/admin/eject"
	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// varied is a kind with children of every sort that is hard to let go of.
var varied = map[string]string{
	"kind.yaml": `apiVersion: jacquard.dev/v1alpha1
kind: KindSettings
children:
- {apiVersion: v1, kind: Namespace}
- {apiVersion: v1, kind: ResourceQuota, namespaces: rendered}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}
`,
	"map.yaml":   modest["map.yaml"],
	"space.yaml": modest["space.yaml"],
	"quota.yaml": "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: NS-{{ .metadata.name }}}\nspec: {hard: {pods: \"5\"}}\n",
	"role.yaml":  "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: NS-{{ .metadata.name }}}\nrules: []\n",
	"kept.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: {{ .metadata.name }}-kept
  annotations: {jacquard.dev/on-delete: keep}
data: {key: dmFsdWU=}
`,
	"deployment.yaml": workload("Deployment"),
	"daemon.yaml":     workload("DaemonSet"),
	"service.yaml":    "apiVersion: v1\nkind: Service\nmetadata: {name: {{ .metadata.name }}}\nspec: {selector: {app: x}, ports: [{port: 80}]}\n",
	"patch.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: theirs-{{ .metadata.name }}
  annotations: {jacquard.dev/ownership: patch}
data: {ours: "{{ .spec.text }}"}
`,
}

func workload(kind string) string {
	return "apiVersion: apps/v1\nkind: " + kind + `
metadata: {name: {{ .metadata.name }}}
spec:
  selector: {matchLabels: {app: {{ .metadata.name }}}}
  template:
    metadata: {labels: {app: {{ .metadata.name }}}}
    spec: {containers: [{name: c, image: x}]}
`
}

// vary starts an operator that serves one resource of the kind varied.
func vary(t *testing.T, first ...func(*site)) *site {
	t.Helper()
	s := lay(t, varied)
	for _, do := range first {
		do(s)
	}
	s.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs-a}, data: {own: x}}")
	s.web("a", "text: one")
	s.start(nil)
	s.is("a", "Ready", "True", "")
	s.becomes("that it serves", state(verdict.Serving))
	return s
}

// taken applies a child by another manager, which must not find its fields held.
func (s *site) taken() {
	s.Helper()
	for _, text := range []string{"two", "one"} {
		o := kit.Parse(s, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: %s}, data: {text: %s}}", s.namespace,
			text))[0]
		if err := cluster.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(o),
			client.FieldOwner("kubectl")); err != nil {
			s.Errorf("another manager cannot take the child: %v", err)
		}
	}
}

// gone waits until a resource of the site's kind is gone.
func (s *site) gone(kind, name string) {
	s.Helper()
	kit.Eventually(s, name+" is gone", func() error { return cluster.Gone(s.group+"/v1", kind, s.namespace, name) })
}

// canary is an object that the garbage collector deletes with a resource.
func (s *site) canary(of string) string {
	s.Helper()
	owner, err := cluster.Get(s.group+"/v1", "Web", s.namespace, of)
	if err != nil {
		s.Fatal(err)
	}
	s.apply(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: canary-%s, ownerReferences: [{apiVersion: GROUP/v1, kind: Web, name: %s, uid: %s}]}}", of, of, owner.GetUID()))
	return "canary-" + of
}

// collects waits until the garbage collector knows the kind. It does half a
// minute after its CRD came, and what it looked at before, it looks at again
// ever more seldom: so it is given another resource each time.
func (s *site) collects() {
	s.Helper()
	n := 0
	kit.Eventually(s, "the garbage collector knows the kind", func() error {
		n++
		name := fmt.Sprintf("early-%d", n)
		s.web(name, "")
		canary := s.canary(name)
		cluster.Delete(s, s.group+"/v1", "Web", s.namespace, name)
		err := errors.New("not looked at")
		for range 20 {
			if err = cluster.Gone("v1", "ConfigMap", s.namespace, canary); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		return err
	})
}

// collected waits until the garbage collector has been at work.
func (s *site) collected(canary string) {
	s.Helper()
	kit.Eventually(s, "the garbage collector has been there", func() error { return cluster.Gone("v1", "ConfigMap", s.namespace, canary) })
}

// everything lists all objects that have to do with the site, but Events and
// what an operator is installed with.
func (s *site) everything() []*unstructured.Unstructured {
	s.Helper()
	look, err := liveview.Open(context.Background(), cluster.Config, nil)
	if err != nil {
		s.Fatal(err)
	}
	var all []*unstructured.Unstructured
	for _, r := range look.Served().Listable() {
		found, err := look.Objects(context.Background(), r.GVK, liveview.Range{})
		if apierrors.IsNotFound(err) { // a kind of another test went
			continue
		}
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, slices.DeleteFunc(found, func(o *unstructured.Unstructured) bool {
			text := shown(s, o)
			return r.GVK.Kind == "Event" || r.GVK.Kind == "Lease" || strings.HasPrefix(o.GetName(), "operator-") ||
				!strings.Contains(text, s.namespace) && !strings.Contains(text, s.group)
		})...)
	}
	return all
}

func shown(t *site, o *unstructured.Unstructured) string {
	text, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// traces names the objects on which something of ours is.
func (s *site) traces() []string {
	s.Helper()
	var names []string
	for _, o := range s.everything() {
		if strings.Contains(shown(s, o), api.Domain) || slices.ContainsFunc(o.GetManagedFields(), ofOurs) {
			names = append(names, o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName())
		}
	}
	return names
}

// ofOurs reports whether an entry of managedFields is that of an operator. That of a
// status says nothing of whose the resource is.
func ofOurs(m metav1.ManagedFieldsEntry) bool {
	return strings.HasPrefix(m.Manager, api.FieldManager) && m.Subresource == ""
}

// state is what must not change: by uid, the generation and all that is not
// metadata or status.
func (s *site) state() map[string]string {
	s.Helper()
	all := map[string]string{}
	for _, o := range s.everything() {
		if slices.Contains([]string{"Web", "CustomResourceDefinition", "APIService"}, o.GetKind()) || strings.HasPrefix(o.GetName(), "canary-") {
			continue
		}
		if o.GetLabels()[api.LabelRevision] != "" { // it goes with the kind
			continue
		}
		name := fmt.Sprintf("%s %s/%s %s", o.GetKind(), o.GetNamespace(), o.GetName(), o.GetUID())
		o = o.DeepCopy()
		generation := o.GetGeneration()
		if o.GetKind() == "Deployment" || o.GetKind() == "EndpointSlice" { // it counts annotations, or labels, too
			generation = 0
		}
		delete(o.Object, "metadata")
		delete(o.Object, "status")
		all[name] = fmt.Sprint(generation, " ", shown(s, o))
	}
	return all
}

func (s *site) same(before, after map[string]string) {
	s.Helper()
	for name, text := range before {
		if after[name] != text {
			s.Errorf("%s was %s and is %q", name, text, after[name])
		}
	}
}

// interrupted ejects the kind until so many objects are done.
func (s *site) interrupted(after int) {
	s.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	e := s.ejection(ctx, s.name())
	found, err := e.Find(ctx)
	if err != nil {
		s.Fatal(err)
	}
	err = e.Strip(ctx, found, func(eject.Object) {
		if after--; after == 0 {
			stop()
		}
	})
	if err == nil || after != 0 {
		s.Fatalf("not interrupted: %v", err)
	}
}

// ejection begins to eject kinds, as an admin.
func (s *site) ejection(ctx context.Context, names ...string) *eject.Eject {
	s.Helper()
	look, err := liveview.Open(ctx, cluster.Config, nil)
	if err != nil {
		s.Fatal(err)
	}
	http, err := rest.HTTPClientFor(cluster.Config)
	if err != nil {
		s.Fatal(err)
	}
	writer, err := apply.NewWriter(cluster.Config, http)
	if err != nil {
		s.Fatal(err)
	}
	e, err := eject.New(ctx, look, writer, names...)
	if err != nil {
		s.Fatal(err)
	}
	return e
}

// statusOfAll is what `jacquard status -o json` says of the cluster, in which
// something is wrong or not known.
func (s *site) statusOfAll() *health.Health {
	s.Helper()
	a := s.as("admin", "status", "-o", "json")
	h := &health.Health{}
	if err := json.Unmarshal([]byte(a.stdout), h); err != nil || a.code != 1 && a.code != 3 {
		s.Fatalf("exit %d: %v: %s", a.code, err, a.all())
	}
	return h
}
