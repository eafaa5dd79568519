package ui

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/admin/history"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/admin/tree"
)

const ofResource = "/api/resources/{kind}/{namespace}/{name}"

// A look is one look at a resource.
type look struct {
	*liveview.Survey
	kind     *liveview.Kind
	resource *unstructured.Unstructured
}

// findRequested finds the resource of a request.
func (s *Server) findRequested(r *http.Request) (*look, error) {
	namespace := r.PathValue("namespace")
	if namespace == "-" {
		namespace = ""
	}
	return s.findResource(r.Context(), Key{r.PathValue("kind"), namespace, r.PathValue("name")})
}

// findResource finds the resource of a key. It is an error if there is none.
func (s *Server) findResource(ctx context.Context, key Key) (*look, error) {
	survey, err := liveview.Open(ctx, s.Config, nil)
	if err != nil {
		return nil, err
	}
	l := &look{Survey: survey}
	if l.kind, err = survey.Kind(ctx, key.Kind); err != nil {
		return nil, err
	}
	if l.resource, err = survey.Get(ctx, l.kind, key.Namespace, key.Name); err != nil {
		return nil, err
	}
	if l.resource == nil {
		return nil, newGoneError(l.kind, key.Namespace, key.Name)
	}
	return l, nil
}

// newGoneError returns the error about a resource that is gone.
func newGoneError(k *liveview.Kind, namespace, name string) error {
	return &refusal{http.StatusNotFound, fmt.Sprintf("%s %s is not there any more", k.Name, strings.TrimPrefix(namespace+"/"+name, "/"))}
}

// sightOf returns the kind of a resource with the state of its folder that serves the resource.
func (s *Server) sightOf(ctx context.Context, l *look) (diff.Sight, error) {
	if l.kind.Unread != nil {
		return diff.Sight{}, fmt.Errorf("which revision of its folder serves the resource is not known, since the CRD says it: %w", l.kind.Unread)
	}
	serves := l.View(ctx, l.kind, nil, l.resource).Revision()
	if serves == "" {
		return diff.Sight{}, fmt.Errorf("the CRD %s does not say which revision of its folder serves the resource", l.kind.Name)
	}
	k := *l.kind
	k.Share = k.Whose(l.resource)
	h, err := history.Of(ctx, l.Survey, &k, s.operatorPlace())
	if err != nil {
		return diff.Sight{}, err
	}
	folder, err := h.Compiled(l.Survey, serves)
	if err != nil {
		return diff.Sight{}, err
	}
	as, err := l.As(&k, folder.GVK)
	return diff.Sight{Survey: l.Survey, Kind: as, Folder: folder}, err
}

// showTree answers with the tree of a resource.
func (s *Server) showTree(r *http.Request) (any, error) {
	l, err := s.findRequested(r)
	if err != nil {
		return nil, err
	}
	return tree.Look(r.Context(), l.Survey, l.kind, l.resource), nil
}

// explainResource answers why a resource has its children.
func (s *Server) explainResource(r *http.Request) (any, error) {
	l, err := s.findRequested(r)
	if err != nil {
		return nil, err
	}
	with, err := s.sightOf(r.Context(), l)
	if err != nil {
		return nil, err
	}
	resource, err := with.Get(r.Context(), with.Kind, l.resource.GetNamespace(), l.resource.GetName())
	if err != nil {
		return nil, err
	}
	if resource == nil {
		return nil, newGoneError(with.Kind, l.resource.GetNamespace(), l.resource.GetName())
	}
	return with.Explain(r.Context(), resource), nil
}

// showObject answers with a resource as YAML, or with one of its children as it lives and as it is
// rendered.
func (s *Server) showObject(r *http.Request) (any, error) {
	l, err := s.findRequested(r)
	if err != nil {
		return nil, err
	}
	child := r.URL.Query().Get("child")
	if child == "" {
		text, err := diff.Text(l.resource.Object)
		return map[string]string{"yaml": text}, err
	}
	ref, err := refOf(child)
	if err != nil {
		return nil, err
	}
	with, err := s.sightOf(r.Context(), l)
	if err != nil { // its folder is not known: it is shown as it lives
		c, unread := diff.Live(r.Context(), l.Survey, ref)
		c.Verb, c.Message = diff.Unknown, "what is desired is not known: "+err.Error()
		return c, unread
	}
	return with.Child(r.Context(), l.resource, ref)
}

// refOf reads APIVERSION/KIND/NAMESPACE/NAME; an apiVersion may have a slash itself.
func refOf(text string) (diff.Ref, error) {
	parts := strings.Split(text, "/")
	n := len(parts) - 3
	if n != 1 && n != 2 || slices.Contains(parts, "") {
		return diff.Ref{}, &refusal{http.StatusBadRequest, fmt.Sprintf(
			"child=%s: write APIVERSION/KIND/NAMESPACE/NAME; the namespace of an object without one is -", text)}
	}
	ref := diff.Ref{GroupVersionKind: schema.FromAPIVersionAndKind(strings.Join(parts[:n], "/"), parts[n]),
		Namespace: parts[n+1], Name: parts[n+2]}
	if ref.Namespace == "-" {
		ref.Namespace = ""
	}
	return ref, nil
}

// An Event is an Event about a resource, or about what became of it.
type Event struct {
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Count   int32     `json:"count"`
	Last    time.Time `json:"last"`
	// Object is Kind name.
	Object string `json:"object"`
}

var events = schema.GroupVersionKind{Version: "v1", Kind: "Event"}

// listEvents answers with the Events about the resource and the objects of its tree. The newest
// comes first.
func (s *Server) listEvents(r *http.Request) (any, error) {
	l, err := s.findRequested(r)
	if err != nil {
		return nil, err
	}
	t := tree.Of(l.View(r.Context(), l.kind, nil, l.resource), l.resource)
	about := map[string]bool{}
	spaces := map[string]bool{}
	add := func(kind, namespace, name string) {
		about[kind+"/"+namespace+"/"+name] = true
		if namespace == "" {
			namespace = "default" // Events about objects without a namespace are there
		}
		spaces[namespace] = true
	}
	add(l.resource.GetKind(), l.resource.GetNamespace(), l.resource.GetName())
	var walk func([]*tree.Node)
	walk = func(nodes []*tree.Node) {
		for _, n := range nodes {
			add(n.Kind, n.Namespace, n.Name)
			walk(n.Owns)
		}
	}
	walk(t.Children)
	all := []Event{}
	for namespace := range spaces {
		found, err := l.Objects(r.Context(), events, liveview.Range{Namespace: namespace})
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			var e corev1.Event
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &e); err != nil {
				return nil, fmt.Errorf("reading Event %s/%s: %w", o.GetNamespace(), o.GetName(), err)
			}
			if i := e.InvolvedObject; about[i.Kind+"/"+i.Namespace+"/"+i.Name] {
				all = append(all, eventOf(&e))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Event) int { return b.Last.Compare(a.Last) })
	return all, nil
}

// eventOf is an Event in either of its two forms.
func eventOf(e *corev1.Event) Event {
	out := Event{Type: e.Type, Reason: e.Reason, Message: e.Message, Count: max(e.Count, 1), Last: e.CreationTimestamp.Time,
		Object: e.InvolvedObject.Kind + " " + e.InvolvedObject.Name}
	if e.Series != nil {
		out.Count = e.Series.Count
		out.Last = e.Series.LastObservedTime.Time
	}
	if e.LastTimestamp.After(out.Last) {
		out.Last = e.LastTimestamp.Time
	}
	return out
}
