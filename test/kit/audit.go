package kit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// marks are the moments that were marked, and how far the audit log was then.
type marks struct {
	mu      sync.Mutex
	moments []moment
}

type moment struct {
	at  time.Time
	end int64
}

// Mark marks this moment, for Requests; 0 is the mark of the beginning.
func (c *Cluster) Mark(t testing.TB) int64 {
	t.Helper()
	now := time.Now()
	info, err := os.Stat(filepath.Join(c.Dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	c.marks.mu.Lock()
	defer c.marks.mu.Unlock()
	c.marks.moments = append(c.marks.moments, moment{now, info.Size()})
	return int64(len(c.marks.moments))
}

// momentOf returns the moment of a mark.
func (c *Cluster) momentOf(mark int64) moment {
	if mark == 0 {
		return moment{}
	}
	c.marks.mu.Lock()
	defer c.marks.mu.Unlock()
	return c.marks.moments[mark-1]
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

// Requests are those of Cluster.Requests that this operator sent, of the operators
// that run beside each other.
func (o *Operator) Requests(t testing.TB, mark int64) []Request {
	t.Helper()
	return o.filterSent(o.Access.cluster.Requests(t, mark))
}

// AllRequests are those of Cluster.AllRequests that this operator sent.
func (o *Operator) AllRequests(t testing.TB, mark int64) []Request {
	t.Helper()
	return o.filterSent(o.Access.cluster.AllRequests(t, mark))
}

// filterSent returns the requests that this operator sent.
func (o *Operator) filterSent(all []Request) []Request {
	return slices.DeleteFunc(all, func(r Request) bool { return r.User != o.Access.User() })
}

// AllRequests lists everything that the operator sent since mark, as far as it
// has been answered: what a request does can be seen before the log has it. So
// one that the API server got before mark, and logged after it, is left out.
func (c *Cluster) AllRequests(t testing.TB, mark int64) []Request {
	t.Helper()
	file, err := os.Open(filepath.Join(c.Dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	since := c.momentOf(mark)
	if _, err := file.Seek(since.end, 0); err != nil {
		t.Fatal(err)
	}
	var all []Request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if r, ours := ParseAudit(lines.Bytes()); ours && !r.Received.Before(since.at) {
			all = append(all, r)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// ParseAudit reads one line of the log (audit.k8s.io/v1 Event), and reports whether
// it is of an operator.
func ParseAudit(line []byte) (Request, bool) {
	var e struct {
		Verb                   string
		User, ImpersonatedUser struct{ Username string }
		ObjectRef              struct{ APIGroup, Resource, Subresource, Namespace, Name string }

		ResponseStatus           struct{ Code int }
		RequestReceivedTimestamp time.Time
	}
	if !mayBeOperators(line) || json.Unmarshal(line, &e) != nil || !IsOperator(e.User.Username) {
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

// mayBeOperators is false for a line that names no operator: most are about the requests
// of tests and controllers, and reading JSON takes time.
func mayBeOperators(line []byte) bool {
	return bytes.Contains(line, []byte(accounts)) || bytes.Contains(line, []byte(`"`+User+`"`))
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
