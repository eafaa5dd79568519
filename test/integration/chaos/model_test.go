package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A spec is what a resource says; the fields that a kind does not have are zero.
type spec struct {
	text  string
	items []string
	open  bool
	moved bool
}

// object renders the spec as a resource's.
func (s spec) object() map[string]any {
	items := make([]any, len(s.items))
	for i, item := range s.items {
		items[i] = item
	}
	return map[string]any{"text": s.text, "items": items, "open": s.open, "moved": s.moved}
}

// A key names a child: "configmaps ns/name", as the audit log does.
type key string

func keyOf(resource, namespace, name string) key {
	return key(resource + " " + namespace + "/" + name)
}

// wanted, of a row with the file that comes and goes, are the children of a resource and the text that each has, without
// those that it may have or not: a file that waits keeps what it made.
func wanted(kind, namespace, name string, s spec) map[key]string {
	all := map[key]string{}
	maps := func(suffixes ...string) {
		for _, suffix := range suffixes {
			all[keyOf("configmaps", namespace, name+"-"+suffix)] = s.text
		}
	}
	switch kind {
	case "row":
		maps(s.items...)
		all[keyOf("services", namespace, name)] = ""
		maps("extra")
	case "vault":
		maps("seen")
		all[keyOf("secrets", namespace, name+"-secret")] = s.text
	case "gate":
		maps("first", "late", "moved")
	case "outpost":
		maps("first")
		all[keyOf("clusterroles", "", namespace+"-"+name)] = s.text
	case "graft":
		maps("first")
	case "stone":
		maps("stone")
	}
	return all
}

// A model knows how often each child has left the desired set: each time the
// operator may delete it once. A child that never left is never deleted.
type model struct {
	mu       sync.Mutex
	leaves   map[key]int
	judged   map[key]int // deletions by the operator
	rowNames []string    // namespace/name of the rows there ever were
	drawn    map[types.UID]string
}

func newModel() *model {
	return &model{leaves: map[key]int{}, judged: map[key]int{}, drawn: map[types.UID]string{}}
}

// edit notes, before it is sent, that a resource is to change; a nil spec is
// that of one that is not there.
func (m *model) edit(r *resource, to *spec) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.now == nil {
		return
	}
	after := map[key]string{}
	if to != nil {
		after = wanted(r.kind, r.namespace, r.name, *to)
	}
	for k, text := range wanted(r.kind, r.namespace, r.name, *r.now) {
		next, stays := after[k]
		if !stays || r.kind == "stone" && text != next { // what is immutable is replaced
			m.leaves[k]++
		}
	}
}

// flip notes, before it is done, that the file of rows goes or comes.
func (m *model) flip(extra bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if extra {
		return
	}
	for _, name := range m.rowNames {
		namespace, name, _ := strings.Cut(name, "/")
		m.leaves[keyOf("configmaps", namespace, name+"-extra")]++
	}
}

// judge says what is wrong with one more deletion by the operator.
func (m *model) judge(k key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.judged[k]++
	if m.judged[k] > m.leaves[k] {
		return fmt.Errorf("the operator deleted %s %d times; it had left the desired set %d times", k, m.judged[k], m.leaves[k])
	}
	return nil
}

// came notes a row, whose extra child the file's going takes away.
func (m *model) came(r *resource) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id := r.namespace + "/" + r.name; r.kind == "row" && !slices.Contains(m.rowNames, id) {
		m.rowNames = append(m.rowNames, id)
	}
}

// password reports whether a Secret still has the text that was drawn for it.
func (m *model) password(o corev1.Secret) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := string(o.Data["password"])
	if before, seen := m.drawn[o.UID]; seen && before != text {
		return fmt.Errorf("the password of %s was drawn again", o.Name)
	}
	m.drawn[o.UID] = text
	return nil
}
