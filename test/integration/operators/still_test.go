package operators

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestStoodStill: the leader stands still for longer than its Lease, while
// people change everything twice and the other one takes over. When it goes on
// it serves nothing, and carries out nothing of what it had before it.
func TestStoodStill(t *testing.T) {
	t.Parallel()
	p := newPair(t, "still", nil)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprint("r", i))
		p.apply(names[i], "v1")
	}
	p.ready(names...)
	p.follow()
	leader := p.leader()
	if err := p.first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"v2", "v3"} {
		for _, name := range names {
			p.apply(name, text)
		}
		p.ready(names...)
	}
	if now := p.leader(); now == leader || now == "" {
		t.Errorf("the leader is %q, after %q", now, leader)
	}
	p.awaitQuiet()
	before, mark := p.versions(), cluster.Mark(t)
	if err := p.first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.await("it has lost its Lease", func() error {
		if !strings.Contains(p.first.log.String(), "the Lease could not be renewed") {
			return errors.New("it does not say so")
		}
		return nil
	})
	p.awaitQuiet()
	if p.versions() != before {
		t.Errorf("it was\n%s\nand is\n%s", before, p.versions())
	}
	for _, r := range kit.Writes(p.sent(mark)) {
		t.Errorf("sent after it went on: %v", r)
	}
}
