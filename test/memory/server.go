package memory

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Request is one that the server got.
type Request struct {
	// Verb is that of RBAC, or "apply".
	Verb        string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	// DryRun: nothing is to be changed.
	DryRun bool
}

// String prints a request as "apply configmaps/status ns/name".
func (r Request) String() string {
	return strings.TrimSpace(r.Verb + " " + path.Join(r.Resource, r.Subresource) + " " + path.Join(r.Namespace, r.Name))
}

// Writes reports whether the request changes something.
func (r Request) Writes() bool { return r.Verb != "get" && r.Verb != "list" && !r.DryRun }

// A Server is an API server in memory.
type Server struct {
	// Refuse answers a request in the server's place; nil: the server does. It is
	// called before anything is changed.
	Refuse func(Request) *metav1.Status
	// Lose reports whether the answer to a request that was carried out gets lost.
	Lose func(Request) bool

	mu       sync.Mutex
	kinds    []live.Resource
	objects  map[types.NamespacedName]map[schema.GroupResource]*unstructured.Unstructured
	version  int
	requests []Request
}

// New returns a server of these kinds.
func New(kinds ...live.Resource) *Server {
	return &Server{kinds: kinds, version: 1, objects: map[types.NamespacedName]map[schema.GroupResource]*unstructured.Unstructured{}}
}

// Client returns what clients of the server are made with.
func (s *Server) Client() (*rest.Config, *http.Client) {
	return &rest.Config{Host: "http://server"}, &http.Client{Transport: s}
}

// Requests are those that the server got since this was asked last, without
// discovery.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}

// Served finds how a kind is served.
func (s *Server) Served(gvk schema.GroupVersionKind) (live.Resource, bool) {
	i := slices.IndexFunc(s.kinds, func(r live.Resource) bool { return r.GVK == gvk })
	if i < 0 {
		return live.Resource{}, false
	}
	return s.kinds[i], true
}

// RoundTrip answers a request.
func (s *Server) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if body, found := s.serveDiscovery(req.URL.Path); found {
		return newResponse(req, http.StatusOK, body)
	}
	var sent []byte
	if req.Body != nil {
		sent, _ = io.ReadAll(req.Body)
	}
	served, r, err := s.parse(req)
	if err != nil {
		return newRefusal(req, newFailure(http.StatusNotFound, metav1.StatusReasonNotFound, err.Error()))
	}
	var how metav1.DeleteOptions
	if r.Verb == "delete" && json.Unmarshal(sent, &how) == nil {
		r.DryRun = r.DryRun || len(how.DryRun) > 0
	}
	s.requests = append(s.requests, r)
	if s.Refuse != nil {
		if status := s.Refuse(r); status != nil {
			return newRefusal(req, status)
		}
	}
	answer, status := s.serveCall(call{Request: r, served: served, http: req, body: sent})
	if s.Lose != nil && s.Lose(r) {
		return nil, fmt.Errorf("the connection broke")
	}
	if status != nil {
		return newRefusal(req, status)
	}
	return newResponse(req, http.StatusOK, answer)
}

// parse says what a request asks for.
func (s *Server) parse(req *http.Request) (live.Resource, Request, error) {
	r := Request{DryRun: req.URL.Query().Get("dryRun") != ""}
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	gv := schema.GroupVersion{}
	switch {
	case parts[0] == "api" && len(parts) > 2:
		gv.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		gv.Group, gv.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return live.Resource{}, r, fmt.Errorf("the server has no %s", req.URL.Path)
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Subresource = parts[2]
	}
	r.Verb = map[string]string{http.MethodGet: "get", http.MethodPatch: "patch", http.MethodDelete: "delete"}[req.Method]
	switch {
	case r.Verb == "get" && r.Name == "":
		r.Verb = "list"
	case req.Header.Get("Content-Type") == string(types.ApplyPatchType):
		r.Verb = "apply"
	}
	i := slices.IndexFunc(s.kinds, func(k live.Resource) bool { return k.GVR == gv.WithResource(r.Resource) })
	if i < 0 {
		return live.Resource{}, r, fmt.Errorf("the server could not find the requested resource")
	}
	return s.kinds[i], r, nil
}

// serveDiscovery returns the answer to a request for the kinds that there are, or false for other
// requests.
func (s *Server) serveDiscovery(asked string) (any, bool) {
	groups := map[string]metav1.APIGroup{}
	resources := map[string]*metav1.APIResourceList{}
	for _, k := range s.kinds {
		gv := k.GVR.GroupVersion()
		at := "/apis/" + gv.String()
		if gv.Group == "" {
			at = "/api/" + gv.Version
		} else {
			version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
			groups[gv.Group] = metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}
		}
		if resources[at] == nil {
			resources[at] = &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
		}
		resources[at].APIResources = append(resources[at].APIResources, metav1.APIResource{
			Name: k.GVR.Resource, Kind: k.GVK.Kind, Namespaced: k.Namespaced, Verbs: metav1.Verbs{"list", "watch", "get", "patch", "delete"},
		})
	}
	switch asked {
	case "/readyz":
		return "ok", true
	case "/api":
		return &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}, true
	case "/apis":
		list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, group := range groups {
			list.Groups = append(list.Groups, group)
		}
		return list, true
	}
	found := resources[asked]
	return found, found != nil
}

// newFailure returns the status of a request that the server refuses.
func newFailure(code int, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message} //nolint:gosec // codes are small
}

// newRefusal returns the response to a request that the server refuses.
func newRefusal(req *http.Request, status *metav1.Status) (*http.Response, error) {
	return newResponse(req, int(status.Code), status)
}

// newResponse returns a response with a body in JSON. A string is sent as it is.
func newResponse(req *http.Request, code int, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if text, is := body.(string); is {
		data = []byte(text)
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: code, Status: strconv.Itoa(code), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(data))), Request: req}, nil
}
