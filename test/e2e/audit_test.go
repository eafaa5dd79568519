package e2e_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A request is a line of the API server's audit log.
type request struct {
	Verb           string
	RequestURI     string
	User           struct{ Username string }
	ObjectRef      struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	ResponseStatus struct {
		Code    int
		Message string
	}
	Annotations              map[string]string
	RequestReceivedTimestamp time.Time
}

// A span is the time in which the operator may be refused, as its rights come
// after what they are for, or go before it.
type span struct{ from, to time.Time }

// unable does what takes the operator's rights away, or brings them late.
func (n *realNode) unable(do func()) {
	from := time.Now()
	do()
	n.without = append(n.without, span{from, time.Now()})
}

// provoked reports whether a request was refused for what a test did, or for what
// passes by itself: a kind that OwnerReferencesPermissionEnforcement does not
// know yet.
func (n *realNode) provoked(r request) bool {
	return strings.Contains(r.ResponseStatus.Message, "cannot set blockOwnerDeletion in this case because cannot find RESTMapping") ||
		slices.ContainsFunc(n.without, func(s span) bool {
			return r.RequestReceivedTimestamp.After(s.from) && r.RequestReceivedTimestamp.Before(s.to)
		})
}

// requests are all finished requests of a user so far.
func (n *realNode) requests(t *testing.T, user string) []request {
	t.Helper()
	return n.audited(t, func(r request) bool { return r.User.Username == user })
}

// audited are all finished requests so far that are wanted.
func (n *realNode) audited(t *testing.T, wanted func(request) bool) []request {
	t.Helper()
	file, err := os.Open(filepath.Join(n.dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			continue // the last line may not be whole yet
		}
		if wanted(r) {
			all = append(all, r)
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return all
}

// ours matches why RBAC allowed a request: by a role of the chart, or by what
// the API server gives everybody.
var ours = regexp.MustCompile(`^RBAC: allowed by (Cluster)?RoleBinding "[^"]+" of (Cluster)?Role "(jacquard[^"]*|system:(discovery|basic-user|public-info-viewer|service-account-issuer-discovery))"`)

// rights: so far nothing was refused, nothing was allowed by other roles than
// those that were generated, and all of these were of use.
func rights(t *testing.T, n *realNode) {
	for _, user := range []string{account, "editor"} {
		all := n.requests(t, user)
		if len(all) == 0 {
			t.Errorf("%s asked for nothing: this test looks in the wrong place", user)
		}
		for _, r := range all {
			if r.ResponseStatus.Code == 403 {
				if n.provoked(r) {
					continue
				}
				t.Errorf("%s was refused %s %s: %s", user, r.Verb, r.RequestURI, r.ResponseStatus.Message)
			} else if reason := r.Annotations["authorization.k8s.io/reason"]; !ours.MatchString(reason) {
				t.Errorf("%s was allowed %s %s for another reason: %q", user, r.Verb, r.RequestURI, reason)
			}
		}
	}
	needed(t, n)
}
