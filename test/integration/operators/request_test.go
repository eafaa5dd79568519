package operators

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// A request is what a wire knows of a request.
type request struct {
	method, resource, namespace, name string
	watch, list                       bool // list: it is a watch that begins with a list
	body                              string
	at                                time.Time // when it was sent
}

// writes reports whether a request changes what the tests look at.
func (r request) writes() bool {
	return r.method != http.MethodGet && r.resource != "events" && !strings.HasSuffix(r.resource, "reviews")
}

// asks reports whether a request writes or reads one object.
func (r request) asks() bool { return r.writes() || r.method == http.MethodGet && r.name != "" }

// object names what a request is about.
func (r request) object() request {
	return request{resource: r.resource, namespace: r.namespace, name: r.name}
}

// parse reads a path such as /apis/apps/v1/namespaces/default/deployments/web/status.
func parse(r *http.Request) request {
	query := r.URL.Query()
	out := request{method: r.Method, watch: query.Get("watch") == "true" || query.Get("watch") == "1",
		list: query.Get("sendInitialEvents") == "true"}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	skip := map[string]int{"api": 2, "apis": 3}[parts[0]]
	if skip == 0 || len(parts) <= skip {
		return out
	}
	parts = parts[skip:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		out.namespace, parts = parts[1], parts[2:]
	}
	out.resource = parts[0]
	if len(parts) > 1 {
		out.name = parts[1]
	}
	if len(parts) > 2 {
		out.resource += "/" + parts[2]
	}
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			text, _ := io.ReadAll(body)
			out.body = string(text)
		}
	}
	return out
}
