package rollout

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// DeletionList lists the deletions that a stopped rollout waits for, for a place that has
// room for all of them, as a text that Record.ReadDeletions reads.
func (r *Rollout) DeletionList() []byte {
	var text strings.Builder
	for _, d := range r.deletions.unapprovedDeletions() {
		fmt.Fprintln(&text, d.owner, d.child.UID, d.child)
	}
	return []byte(text.String())
}

// ReadDeletions returns the children that a list names. It is an error unless they are
// those that the record's stop is about.
func (r Record) ReadDeletions(list []byte) ([]string, error) {
	var names, keys []string
	for line := range strings.Lines(string(list)) {
		owner, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		uid, name, _ := strings.Cut(rest, " ")
		names = append(names, name)
		keys = append(keys, deletionKey(types.UID(owner), types.UID(uid), name))
	}
	if r.Stop != deletionsStop(r.Target(), keys) {
		return nil, errors.New("the list is not the one of this stop")
	}
	return names, nil
}
