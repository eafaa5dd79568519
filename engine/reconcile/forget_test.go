package reconcile

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// An answering answers as a server with ServiceAccounts and Nodes would, and
// notes what it is asked for them and for the CRD.
type answering struct {
	// items are the objects of every list.
	items string
	asked []string
}

func (a *answering) RoundTrip(req *http.Request) (*http.Response, error) {
	body := map[string]string{
		"/api":  `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"namespaces","kind":"Namespace","verbs":["list"]},` +
			`{"name":"serviceaccounts","kind":"ServiceAccount","namespaced":true,"verbs":["list"]},{"name":"nodes","kind":"Node","verbs":["list"]}]}`,
		"/readyz": "ok",
	}[req.URL.Path]
	if body == "" {
		a.asked = append(a.asked, req.Method+" "+req.URL.Path+" "+req.URL.Query().Get("labelSelector")+req.URL.Query().Get("resourceVersion"))
		body = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":[` + a.items + `]}`
	}
	if req.Method == http.MethodPatch {
		sent, _ := io.ReadAll(req.Body)
		a.asked = append(a.asked, string(sent))
		body = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"things.example.com","uid":"crd","resourceVersion":"9"}}`
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// recording is a Reconciler of things whose CRD has these annotations.
func recording(t *testing.T, server *answering, annotations map[string]string) *Reconciler {
	t.Helper()
	cfg, through := &rest.Config{Host: "http://server"}, &http.Client{Transport: server}
	found, err := cluster.NewDiscovery(cfg, through)
	if err == nil {
		err = found.Refresh(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	writer, err := apply.NewWriter(cfg, through)
	if err != nil {
		t.Fatal(err)
	}
	crd := &metav1.ObjectMeta{Name: "things.example.com", UID: "crd", ResourceVersion: "5", Annotations: annotations}
	return New("things.example.com", schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}, nil, Cluster{Writer: writer, Caches: observe.Caches{
		Served: found.Served, CRD: func(string) metav1.Object { return crd }, Shard: shard.Shard{Identity: "jacquard"},
	}})
}

// making is a version whose folder makes these kinds of children.
func making(kinds ...string) *observe.Version {
	k := &kind.Kind{}
	for _, name := range kinds {
		k.Children = append(k.Children, kind.Child{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: name}})
	}
	return &observe.Version{Kind: k}
}

// TestForget: a kind goes off the record only if no version in use makes it, the
// server itself shows no child, nothing is under way, and nobody else may make
// any; and only by the leader. The record is written over the CRD that was seen.
func TestForget(t *testing.T) {
	const (
		list   = "GET /api/v1/serviceaccounts jacquard.dev/owner-uid"
		nodes  = "GET /api/v1/nodes "
		child  = `{"metadata":{"name":"a","annotations":{"jacquard.dev/owner":"NAME/ns/a"},"managedFields":[{"manager":"jacquard-NAME"}]}}`
		thing  = "things.example.com"
		before = "ConfigMap,ServiceAccount"
	)
	patch := func(record string) string {
		return `{"metadata":{"annotations":{` + record + `},"resourceVersion":"5","uid":"crd"}}`
	}
	of := func(name string) string { return strings.ReplaceAll(child, "NAME", name) }
	for name, c := range map[string]struct {
		items    string
		versions []*observe.Version
		marks    map[string]string
		change   func(*Reconciler)
		want     []string
		fails    bool
	}{
		"nothing is left":            {want: []string{list, patch(`"jacquard.dev/child-kinds":"ConfigMap"`)}},
		"of another kind":            {items: of("teams.example.com"), want: []string{list, patch(`"jacquard.dev/child-kinds":"ConfigMap"`)}},
		"a child is there":           {items: of(thing), want: []string{list}},
		"a child of nobody is there": {items: `{"metadata":{"name":"a"}}`, want: []string{list}},
		"a version makes it":         {versions: []*observe.Version{making("ConfigMap"), making("ConfigMap", "ServiceAccount")}},
		"a version is not here":      {versions: []*observe.Version{making("ConfigMap"), {Removed: true}}},
		"nobody knows the versions":  {versions: []*observe.Version{}},
		"others serve a share":       {marks: map[string]string{"operator.jacquard.dev/team-1": `{"identity":"team"}`}},
		"the claim is off":           {marks: map[string]string{api.AnnotationOperator: ""}},
		"it sees some namespaces":    {change: func(r *Reconciler) { r.cluster.Namespaces = []string{"a"} }},
		"another led just now":       {change: func(r *Reconciler) { r.TookOver(time.Now()) }},
		"an answer got lost":         {change: func(r *Reconciler) { r.recorded.recordDoubt(schema.GroupKind{Kind: "ServiceAccount"}) }},
		"one is written":             {change: func(r *Reconciler) { r.recorded.addUse(planned("ServiceAccount"), 1) }},
		"one was written": {
			change: func(r *Reconciler) {
				r.recorded.addUse(planned("ServiceAccount"), 1)
				r.recorded.addUse(planned("ServiceAccount"), -1)
			},
			want: []string{list, patch(`"jacquard.dev/child-kinds":"ConfigMap"`)},
		},
		"a follower": {
			change: func(r *Reconciler) {
				r.cluster.Writer = r.cluster.Writer.While(func() (time.Duration, bool) { return 0, false })
			},
			want: []string{list}, fails: true,
		},
		"no patch is left": {
			marks: map[string]string{api.AnnotationChildKinds: "", api.AnnotationPatchedKinds: "Node"}, items: of("gone"),
			want: []string{nodes, patch(`"jacquard.dev/patched-kinds":null`)},
		},
		"a patch is there": {marks: map[string]string{api.AnnotationChildKinds: "", api.AnnotationPatchedKinds: "Node"}, items: of("uid"),
			want: []string{nodes}},
		"it is not served": {marks: map[string]string{api.AnnotationChildKinds: "ConfigMap,Other.example.com"}},
	} {
		server := &answering{items: c.items}
		marks := map[string]string{api.AnnotationOperator: "jacquard", api.AnnotationChildKinds: before}
		for key, value := range c.marks {
			marks[key] = value
		}
		r := recording(t, server, marks)
		if c.change != nil {
			c.change(r)
		}
		if c.versions == nil {
			c.versions = []*observe.Version{making("ConfigMap")}
		}
		resource := &live.Packed{}
		resource.UID = "uid"
		_, err := r.Forget(context.Background(), c.versions, []*live.Packed{resource})
		asked := slices.DeleteFunc(server.asked, func(s string) bool { return strings.HasPrefix(s, "PATCH") })
		if diff := cmp.Diff(c.want, asked); diff != "" || c.fails != (err != nil) {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		if r.recorded.busy != nil || r.recorded.forgetting != nil {
			t.Errorf("%s: the record is left locked", name)
		}
	}
}

// planned is a plan that creates an object of a kind.
func planned(name string) *plan.Plan {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": name, "metadata": map[string]any{"name": "a"}}}
	return &plan.Plan{Steps: []plan.Step{{Action: plan.Create, Document: o}}}
}

// TestForgetLast: a record does not become empty while a resource bears our
// finalizer: it tells that there is something to serve once the folder is gone.
func TestForgetLast(t *testing.T) {
	server := &answering{}
	r := recording(t, server, map[string]string{api.AnnotationOperator: "jacquard", api.AnnotationChildKinds: "ServiceAccount"})
	resource := &live.Packed{}
	resource.Finalizers = []string{api.Finalizer}
	went, err := r.Forget(context.Background(), []*observe.Version{making("ConfigMap")}, []*live.Packed{resource})
	if err != nil || len(went) > 0 || len(server.asked) != 1 {
		t.Errorf("with a finalizer: %v %v, asked %q", went, err, server.asked)
	}
	resource.Finalizers = nil
	went, err = r.Forget(context.Background(), []*observe.Version{making("ConfigMap")}, []*live.Packed{resource})
	if diff := cmp.Diff([]string{"ServiceAccount"}, went); diff != "" || err != nil {
		t.Errorf("without: %v %s", err, diff)
	}
}

// TestRecordWhileForgetting: whoever makes a kind that is just being taken off the
// record waits, and puts it on record again.
func TestRecordWhileForgetting(t *testing.T) {
	r := recording(t, &answering{}, map[string]string{api.AnnotationOperator: "jacquard",
		api.AnnotationChildKinds: "ConfigMap,ServiceAccount"})
	_, unused := forgetter{r}.toForget([]*observe.Version{making("ConfigMap")})
	if len(unused) == 0 {
		t.Fatal("nothing is forgotten")
	}
	turn := recorder{&pass{r: r, subject: &observe.Subject{Name: r.name, Caches: &r.cluster.Caches, Version: making("ConfigMap", "ServiceAccount")}}}
	_, changed, busy, err := turn.toRecord(planned("ServiceAccount"))
	if err != nil || busy == nil || changed[api.AnnotationChildKinds] != "ConfigMap,ServiceAccount" {
		t.Errorf("a kind that is being forgotten: %v, waits %t, writes %v", err, busy != nil, changed)
	}
	if _, changed, _, err = turn.toRecord(planned("ConfigMap")); err != nil || len(changed) > 0 {
		t.Errorf("another kind: %v, writes %v", err, changed)
	}
	r.recorded.endWrite(nil)
	if _, changed, busy, err = turn.toRecord(planned("ServiceAccount")); err != nil || busy != nil || len(changed) > 0 {
		t.Errorf("after it was not forgotten: %v, waits %t, writes %v", err, busy != nil, changed)
	}
}

// TestForgot tells whether a record lost a kind.
func TestForgot(t *testing.T) {
	crd := func(kinds string) metav1.Object {
		return &metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationChildKinds: kinds}}
	}
	for _, c := range []struct {
		before, after string
		want          bool
	}{{"", "", false}, {"A", "A,B", false}, {"A,B", "B", true}, {"A", "", true}, {"A", "B", true}} {
		if got := Forgot(crd(c.before), crd(c.after)); got != c.want {
			t.Errorf("%q, then %q: %t", c.before, c.after, got)
		}
	}
}
