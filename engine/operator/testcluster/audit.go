package testcluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Request is one request of an operator.
type Request struct {
	Verb, Group, Resource, Namespace, Name string
	Code                                   int
	// User is who sent it, As the user that it was sent for, "" for themselves.
	User, As string
	// Received is when the API server got it.
	Received time.Time
}

// String returns "patch deployments default/web 200".
func (r Request) String() string {
	return fmt.Sprintf("%s %s %s/%s %d", r.Verb, r.Resource, r.Namespace, r.Name, r.Code)
}

// Mark is the end of the audit log now, for Requests.
func (c *Cluster) Mark(t testing.TB) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(c.Dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Requests lists what the operator sent since mark, in order, without what
// does not count: Leases, Events, watches, discovery, access reviews, and the
// record of child kinds on CRDs.
func (c *Cluster) Requests(t testing.TB, mark int64) []Request {
	t.Helper()
	return slices.DeleteFunc(c.AllRequests(t, mark), func(r Request) bool {
		return r.Verb == "watch" || r.Resource == "leases" || r.Resource == "events" || strings.HasSuffix(r.Resource, "reviews") ||
			r.Resource == "" || (r.Resource == "customresourcedefinitions" && r.Verb == "patch")
	})
}

// AllRequests lists everything that the operator sent since mark.
func (c *Cluster) AllRequests(t testing.TB, mark int64) []Request {
	t.Helper()
	file, err := os.Open(filepath.Join(c.Dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(mark, 0); err != nil {
		t.Fatal(err)
	}
	var all []Request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if r, ours := parseAudit(lines.Bytes()); ours {
			all = append(all, r)
		}
	}
	return all
}

// parseAudit reads one line of the log (audit.k8s.io/v1 Event).
func parseAudit(line []byte) (Request, bool) {
	var e struct {
		Verb                   string
		User, ImpersonatedUser struct{ Username string }
		ObjectRef              struct{ APIGroup, Resource, Subresource, Namespace, Name string }

		ResponseStatus           struct{ Code int }
		RequestReceivedTimestamp time.Time
	}
	if json.Unmarshal(line, &e) != nil || !IsOperator(e.User.Username) {
		return Request{}, false
	}
	r := Request{
		Verb: e.Verb, Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, User: e.User.Username, As: e.ImpersonatedUser.Username,
		Received: e.RequestReceivedTimestamp,
	}
	if e.ObjectRef.Subresource != "" {
		r.Resource += "/" + e.ObjectRef.Subresource
	}
	return r, true
}

// Writes are the requests that write.
func Writes(requests []Request) []Request {
	return slices.DeleteFunc(slices.Clone(requests), func(r Request) bool {
		return r.Verb == "get" || r.Verb == "list"
	})
}

// Tally counts requests by verb and resource: "patch deployments" → 2.
func Tally(requests []Request) map[string]int {
	n := map[string]int{}
	for _, r := range requests {
		n[r.Verb+" "+r.Resource]++
	}
	return n
}
