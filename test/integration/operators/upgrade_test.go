package operators

import (
	"fmt"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestUpgrade: an operator of an earlier version and this one serve the same
// resources in turn. None writes what the other one made, but one status of each
// resource at most, and the mark of drawn Secrets; each serves what is new, writes
// what is changed once, and deletes.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	program := programOf(t, earlier)
	files := map[string]string{}
	for _, name := range []string{"kind", "map", "secret", "role", "second"} {
		files[name+".yaml"] = everyWay[name+".yaml"]
	}
	s := build(t, files)
	cluster.Apply(t, s.namespace, foreign)
	cluster.Grant(t, kit.User, s.line(), s.dir)
	passwords := record(t, s.namespace)
	s.web("a", "name: map-a, text: first, second: true")
	names, said := []string{"a"}, "first"
	for i, run := range []func() func(){
		func() func() { return s.process(program) }, s.upgraded,
		func() func() { return s.process(program) }, s.upgraded,
	} {
		mark := cluster.Mark(t)
		stop := run()
		made := fmt.Sprint("made-", i)
		s.web(made, fmt.Sprintf("name: map-%s, text: first, second: false", made))
		names = append(names, made)
		s.serve(names, said)
		if i > 0 {
			s.spares(mark, made, 0)
		}
		mark, said = cluster.Mark(t), fmt.Sprint("text-", i)
		s.web("a", "name: map-a, text: "+said+", second: true")
		s.serve(names, said)
		s.spares(mark, "", 1)
		if len(s.sentOf(mark, "")) < 5 {
			t.Errorf("of a change that four objects and a status show only %v was seen", s.sentOf(mark, ""))
		}
		if i == 3 {
			break
		}
		stop()
	}
	for _, name := range names {
		cluster.Delete(t, s.apiVersion(), "Web", s.namespace, name)
	}
	kit.Eventually(t, "the resources are gone, and nothing is left", func() error {
		for _, name := range names {
			if err := cluster.Gone(s.apiVersion(), "Web", s.namespace, name); err != nil {
				return err
			}
		}
		if err := s.roles(want{}); err != nil {
			return err
		}
		return s.left()
	})
	passwords.once(t, len(names))
}
