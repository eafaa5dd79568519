package controller

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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
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

// forgetting is an operator of things whose CRD has these annotations, and the kind at work.
func forgetting(t *testing.T, server *answering, annotations map[string]string) (*Operator, *kindController) {
	t.Helper()
	cfg, through := &rest.Config{Host: "http://server"}, &http.Client{Transport: server}
	found, err := cluster.NewDiscovery(cfg, through)
	if err == nil {
		err = found.Refresh(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	writer, err := apply.NewWriter(cfg, through)
	if err != nil {
		t.Fatal(err)
	}
	crd := defines("things", "Thing", true)
	crd.UID, crd.ResourceVersion, crd.Annotations = "crd", "5", annotations
	o := assembleParts(&process{writer: writer, options: Options{Identity: "jacquard"}})
	o.apis.discovery, o.kinds[crd.Name] = found, &kindState{crd: crd}
	o.inFlight.setShare(replicas.All())
	r := &kindController{o: o.kindTable, name: crd.Name, shard: o.shardOf(crd), versions: newKindVersions(nil, nil), resources: known(t, crd.Name)}
	r.reconciler = reconcile.New(r.name, schema.GroupVersionKind{}, nil, reconcile.Cluster{})
	r.versions.versions = []servedVersion{{version: versionOf("now")}}
	return o, r
}

// TestForgetKinds: a kind is removed from the record only if no version in use makes it, the API
// server shows no child, no reconciliation that began before is running, no response is missing,
// and nobody else may make any. The record is written over the CRD that was seen.
func TestForgetKinds(t *testing.T) {
	const (
		list   = "GET /api/v1/serviceaccounts jacquard.dev/owner-uid"
		nodes  = "GET /api/v1/nodes "
		child  = `{"metadata":{"name":"a","annotations":{"jacquard.dev/owner":"NAME/ns/a"},"managedFields":[{"manager":"jacquard-NAME"}]}}`
		before = "ConfigMap,ServiceAccount"
	)
	patch := func(record string) string {
		return `{"metadata":{"annotations":{` + record + `},"resourceVersion":"5","uid":"crd"}}`
	}
	forgotten := []string{list, patch(`"jacquard.dev/child-kinds":"ConfigMap"`)}
	of := func(name string) string { return strings.ReplaceAll(child, "NAME", name) }
	for name, c := range map[string]struct {
		items  string
		marks  map[string]string
		change func(*Operator, *kindController)
		want   []string
	}{
		"nothing is left":            {want: forgotten},
		"of another kind":            {items: of("teams.example.com"), want: forgotten},
		"a child is there":           {items: of("things.example.com"), want: []string{list}},
		"a child of nobody is there": {items: `{"metadata":{"name":"a"}}`, want: []string{list}},
		"the folder is removed": {change: func(_ *Operator, r *kindController) {
			r.versions.versions[0].version.Kind = nil
		}},
		"others serve a share": {marks: map[string]string{"operator.jacquard.dev/team-1": `{"identity":"team"}`}},
		"the claim is off":     {marks: map[string]string{api.AnnotationOperator: ""}},
		"it is paused":         {marks: map[string]string{api.AnnotationPaused: "true"}},
		"it sees some namespaces": {change: func(o *Operator, _ *kindController) {
			o.options.Namespaces = []string{"a"}
		}},
		"another led just now": {change: func(_ *Operator, r *kindController) { r.reconciler.TookOver(time.Now()) }},
		"a follower": {change: func(o *Operator, _ *kindController) {
			o.writer = o.writer.While(func() (time.Duration, bool) { return 0, false })
		}, want: []string{list}},
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
		o, r := forgetting(t, server, marks)
		r.resources = known(t, r.name, `{"metadata":{"uid":"uid"}}`)
		if c.change != nil {
			c.change(o, r)
		}
		o.rollouts.forgetKinds(t.Context(), r)
		asked := slices.DeleteFunc(server.asked, func(s string) bool { return strings.HasPrefix(s, "PATCH") })
		if diff := cmp.Diff(c.want, asked); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestForgetLast: a record does not become empty while a resource bears our
// finalizer: it tells that there is something to serve once the folder is gone.
func TestForgetLast(t *testing.T) {
	for _, finalizers := range []string{api.Finalizer, ""} {
		o, r := forgetting(t, &answering{}, map[string]string{api.AnnotationChildKinds: "ServiceAccount"})
		r.resources = known(t, r.name, `{"metadata":{"finalizers":["`+finalizers+`"]}}`)
		unused := kinds.ReadKinds(o.latestCRD(r.name))
		went, err := o.rollouts.removeKinds(context.Background(), r, o.latestCRD(r.name), unused)
		if err != nil || (len(went) > 0) != (finalizers == "") {
			t.Errorf("with finalizers %v: %v %v", finalizers, went, err)
		}
	}
}

// TestServesAlone: only who serves all resources of a kind knows what is left of their children.
func TestServesAlone(t *testing.T) {
	mine := shard.Shard{Identity: "jacquard"}
	crd := func(identity string) metav1.Object {
		return &metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationOperator: identity}}
	}
	for name, got := range map[string]bool{
		"others serve it":   servesAlone(crd("other"), mine, nil),
		"in one namespace":  servesAlone(crd("jacquard"), mine, []string{"a"}),
		"nobody claims it":  servesAlone(crd(""), mine, nil),
		"a share by labels": servesAlone(crd("jacquard"), shard.Shard{Identity: "jacquard", Namespaces: []string{"a"}}, nil),
	} {
		if got {
			t.Errorf("%s: nobody else serves it", name)
		}
	}
	if !servesAlone(crd("jacquard"), mine, nil) {
		t.Error("others serve what is ours alone")
	}
}
