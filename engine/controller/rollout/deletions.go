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
	for _, d := range r.wanted() {
		fmt.Fprintln(&text, d.of, d.UID, d)
	}
	return []byte(text.String())
}

// ReadDeletions returns the children that a list names. It is an error unless they are
// those that the record's stop is about.
func (r Record) ReadDeletions(list []byte) ([]string, error) {
	var names []string
	hashes := set{}
	for line := range strings.Lines(string(list)) {
		of, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		uid, name, _ := strings.Cut(rest, " ")
		names = append(names, name)
		hashes[deletionKey(types.UID(of), types.UID(uid), name)] = true
	}
	if r.Wanted != keyOf(hashes.all()...) {
		return nil, errors.New("the list is not the one of this stop")
	}
	return names, nil
}

// hashOf tells one set of deletions from another.
func hashOf(all []deletion) string {
	hashes := set{}
	for _, d := range all {
		hashes[d.key()] = true
	}
	return keyOf(hashes.all()...)
}
