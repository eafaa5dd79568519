package ui

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/history"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// files are those of the page: see ui/.
//
//go:embed page
var files embed.FS

// Options say which cluster is shown, and as what.
type Options struct {
	Config *rest.Config
	// Context is the name of the kubeconfig's context, and Namespace the one of
	// this context: it is looked at where not all may be listed.
	Context, Namespace string
	// OperatorNamespace is that of the operators to show; "" means all.
	OperatorNamespace string
	// Folders reads those on file, beside those of the operator's ConfigMaps; nil: there are
	// none.
	Folders func() (map[string]*folder.Folder, error)
	// Program is the version of this program.
	Program string
}

// A Server answers the requests of the page.
type Server struct {
	Options
	table *Table
	// beat is how often a stream says that it lives, and limit how long any other answer
	// may take.
	beat, limit time.Duration
}

// New makes a server; Run keeps it informed.
func New(o Options) *Server {
	return &Server{Options: o, table: NewTable(), beat: 15 * time.Second, limit: 30 * time.Second}
}

// Run watches the cluster until the context ends.
func (s *Server) Run(ctx context.Context) error {
	cfg := rest.CopyConfig(s.Config)
	cfg.QPS = -1 // there is one watch a kind
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return fmt.Errorf("making an HTTP client: %w", err)
	}
	w := &watcher{table: s.table, fallback: s.Namespace}
	if w.objects, err = dynamic.NewForConfigAndClient(cfg, client); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if w.metadata, err = metadata.NewForConfigAndClient(cfg, client); err != nil {
		return fmt.Errorf("making a metadata client: %w", err)
	}
	served, err := cluster.NewDiscovery(cfg, client)
	if err != nil {
		return err
	}
	w.serves = func(ctx context.Context, crd string) (live.Resource, bool, error) {
		if err := served.Refresh(ctx); err != nil {
			return live.Resource{}, false, err
		}
		for _, r := range served.Served().Named(crd) {
			if r.GVR.GroupResource().String() == crd {
				return r, true, nil
			}
		}
		return live.Resource{}, false, nil
	}
	w.run(ctx)
	return nil
}

// Handler answers all requests that a guard lets through.
func (s *Server) Handler(g *Guard) http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /api/rows", s.streamRows)
	for pattern, answer := range map[string]func(*http.Request) (any, error){
		"GET /api/about":                 s.describeCluster,
		"GET /api/health":                s.showHealth,
		"GET /api/kinds/{kind}/history":  s.showHistory,
		"GET " + ofResource + "/tree":    s.showTree,
		"GET " + ofResource + "/events":  s.listEvents,
		"GET " + ofResource + "/explain": s.explainResource,
		"GET " + ofResource + "/object":  s.showObject,
		"POST /api/plan":                 s.planOrder,
		"POST /api/do":                   s.executeOrder,
	} {
		api.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			v, err := s.inTime(r, answer)
			if err != nil {
				writeError(w, err)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v) // the page may be gone
		})
	}
	return g.Wrap(http.HandlerFunc(servePage), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(klog.NewContext(r.Context(), logr.Discard()))) // what goes wrong is answered
	}))
}

// inTime answers a request, or says that the API server does not answer.
func (s *Server) inTime(r *http.Request, answer func(*http.Request) (any, error)) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), s.limit)
	defer cancel()
	v, err := answer(r.WithContext(ctx))
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) { // a report tells what it could not read, and is no error
		return v, err
	}
	text := fmt.Sprintf("the API server %s does not answer: it took more than %s", s.Config.Host, s.limit)
	if r.URL.Path == "/api/do" {
		text += "; whether it was done is not known: look again"
	}
	return nil, &refusal{http.StatusGatewayTimeout, text}
}

// servePage serves a file of the page.
func servePage(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/favicon.ico" { // browsers ask for it, and there is none
		w.WriteHeader(http.StatusNoContent)
		return
	}
	name := path.Base(path.Clean("/" + r.URL.Path))
	if name == "/" {
		name = "index.html"
	}
	types := map[string]string{".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
	text, err := fs.ReadFile(files, "page/"+name)
	kind, known := types[path.Ext(name)]
	if err != nil || !known || r.URL.Path != "/" && r.URL.Path != "/"+name {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	_, _ = w.Write(text) // the page may be gone
}

// A refusal is an error of a request with its HTTP status.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// writeError answers with an error.
func writeError(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	var r *refusal
	switch {
	case errors.As(err, &r):
		status = r.status
	case apierrors.IsForbidden(err):
		status = http.StatusForbidden
	case apierrors.IsConflict(err):
		status = http.StatusConflict
	}
	http.Error(w, err.Error(), status)
}

// streamRows streams the table, a Change a line.
func (s *Server) streamRows(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, flush := json.NewEncoder(w), http.NewResponseController(w)
	f := s.table.Follow()
	defer f.Leave()
	for {
		ctx, cancel := context.WithTimeout(r.Context(), s.beat)
		change, err := f.Next(ctx)
		cancel()
		if r.Context().Err() != nil {
			return
		}
		if err != nil { // nothing is new
			change = Change{}
		}
		if out.Encode(change) != nil || flush.Flush() != nil {
			return
		}
	}
}

// About is whose cluster the page shows.
type About struct {
	Context string `json:"context"`
	Server  string `json:"server"`
	// User is "" if the API server does not say.
	User    string `json:"user"`
	Version string `json:"version"`
	Program string `json:"program"`
	// Unlisted says that CRDs may not be listed or watched, so that the page does not know
	// which kinds there are, and which right is missing; "" if they may.
	Unlisted string `json:"unlisted,omitempty"`
}

// describeCluster answers with the cluster, the user and the versions.
func (s *Server) describeCluster(r *http.Request) (any, error) {
	a := About{Context: s.Context, Server: s.Config.Host, Program: s.Program}
	reviewer, err := apply.NewReviewer(s.Config)
	if err != nil {
		return nil, err
	}
	a.User, _, _ = reviewer.Self(r.Context()) // servers before 1.28 do not say
	client, err := discovery.NewDiscoveryClientForConfig(s.Config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	version, err := client.ServerVersionWithContext(r.Context())
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", s.Config.Host, err)
	}
	a.Version = version.GitVersion
	a.Unlisted = explainUnlisted(r.Context(), reviewer)
	return a, nil
}

// explainUnlisted returns which right is missing to know the kinds, as far as that can be asked. It
// is "" if none is.
func explainUnlisted(ctx context.Context, may *apply.Reviewer) string {
	var missing []string
	for _, verb := range []string{"list", "watch"} {
		ok, err := may.Allowed(ctx, authorizationv1.ResourceAttributes{Verb: verb, Group: definitions.Group, Resource: definitions.Resource})
		if err == nil && !ok {
			missing = append(missing, verb)
		}
	}
	if missing == nil {
		return ""
	}
	return fmt.Sprintf("which kinds an operator serves is not known, since CRDs may not be listed and watched; the missing rule, in a ClusterRole: "+
		"{apiGroups: [%q], resources: [%q], verbs: [%s]}", definitions.Group, definitions.Resource, strings.Join(missing, ", "))
}

// operatorPlace is where revisions are looked for.
func (s *Server) operatorPlace() history.Place {
	return history.Place{Namespace: s.OperatorNamespace, Fallback: s.Namespace}
}

// showHealth answers with how Jacquard is in the cluster.
func (s *Server) showHealth(r *http.Request) (any, error) {
	survey, err := liveview.Open(r.Context(), s.Config, nil)
	if err != nil {
		return nil, err
	}
	allowed, err := health.Review(s.Config)
	if err != nil {
		return nil, err
	}
	asked := health.Asked{OperatorNamespace: s.OperatorNamespace, Fallback: s.Namespace, Program: s.Program, Now: time.Now(),
		Allowed: allowed}
	if s.Folders != nil { // read each time: they change while the page is open
		asked.Folders, err = s.Folders()
	}
	h := health.Of(r.Context(), survey, asked)
	if err != nil {
		h.Unknown = append(h.Unknown, fmt.Sprintf("the folders on file: %v", err))
	}
	return h, nil
}

// showHistory answers with the history of a kind.
func (s *Server) showHistory(r *http.Request) (any, error) {
	survey, err := liveview.Open(r.Context(), s.Config, nil)
	if err != nil {
		return nil, err
	}
	k, err := survey.Kind(r.Context(), r.PathValue("kind"))
	if err != nil {
		return nil, err
	}
	if err := k.Look(r.URL.Query().Get("identity")); err != nil {
		return nil, err
	}
	return history.Of(r.Context(), survey, k, s.operatorPlace())
}
