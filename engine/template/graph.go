package template

import (
	"maps"
	"slices"
	"strings"
)

// A need says that a file's text is asked for, and where.
type need struct {
	file string
	at   pos
}

// connectFiles finds what the folder asks for, in the order of the files and then of the defines
// that they reach, and the files that render each other in a circle.
func (s *Set) connectFiles(sources []Source) []error {
	reached := map[*routine]bool{}
	needs := map[string][]need{}
	for _, in := range sources {
		r := s.files[in.Name]
		if r == nil {
			continue
		}
		mine := map[*routine]bool{}
		s.addReached(r, mine)
		maps.Copy(reached, mine)
		for _, called := range s.inOrder(sources, mine) {
			needs[in.Name] = append(needs[in.Name], called.needs...)
		}
		for _, n := range needs[in.Name] {
			s.shared[n.file] = true
		}
	}
	for r := range reached {
		if s.defines[r.name] == r {
			s.called[r.src.file] = true
		}
	}
	for _, r := range s.inOrder(sources, reached) {
		s.asks = append(s.asks, r.asks...)
	}
	for _, a := range s.asks {
		if a.Function == "await" {
			if !s.shared[a.Args[0]] {
				s.shared[a.Args[0]] = false // rendered on demand, once
			}
		}
	}
	return findCircles(needs)
}

// AsksOf lists what a file asks, itself, by the defines that it calls and by the
// files that it renders.
func (s *Set) AsksOf(file string) []Ask {
	var all []Ask
	seen, todo := map[string]bool{}, []string{file}
	for len(todo) > 0 {
		next := s.files[todo[0]]
		todo = todo[1:]
		if next == nil || seen[next.name] {
			continue
		}
		seen[next.name] = true
		mine := map[*routine]bool{}
		s.addReached(next, mine)
		for r := range mine {
			all = append(all, r.asks...)
			for _, n := range r.needs {
				todo = append(todo, n.file)
			}
		}
	}
	return all
}

// CallsOf lists the defines that a file calls, itself or by others.
func (s *Set) CallsOf(file string) []string {
	mine := map[*routine]bool{}
	if r := s.files[file]; r != nil {
		s.addReached(r, mine)
	}
	var all []string
	for r := range mine {
		if s.defines[r.name] == r {
			all = append(all, r.name)
		}
	}
	return all
}

// addReached adds a routine and all that it calls.
func (s *Set) addReached(r *routine, to map[*routine]bool) {
	if to[r] {
		return
	}
	to[r] = true
	for _, called := range r.calls {
		s.addReached(called, to)
	}
	if r.callsAny {
		for _, called := range s.defines {
			s.addReached(called, to)
		}
	}
}

// inOrder gives routines in the order of the files; a file's own text comes
// before its defines.
func (s *Set) inOrder(sources []Source, some map[*routine]bool) []*routine {
	var all []*routine
	for _, in := range sources {
		if r := s.files[in.Name]; some[r] {
			all = append(all, r)
		}
		for _, name := range sortedKeys(s.defines) {
			if r := s.defines[name]; some[r] && r.src.file == in.File {
				all = append(all, r)
			}
		}
	}
	return all
}

// findCircles refuses files that render each other: none of them could be first.
func findCircles(needs map[string][]need) []error {
	var errs []error
	done := map[string]bool{}
	var follow func(name string, path []string)
	follow = func(name string, path []string) {
		path = append(path, name)
		for _, n := range needs[name] {
			if i := slices.Index(path, n.file); i >= 0 {
				circle := strings.Join(append(path[i:len(path):len(path)], n.file), " → ")
				errs = append(errs, n.at.errorAt("files render each other in a circle: %s", circle))
			} else if !done[n.file] {
				follow(n.file, path)
			}
		}
		done[name] = true
	}
	for _, name := range sortedKeys(needs) {
		if !done[name] {
			follow(name, nil)
		}
	}
	return errs
}
