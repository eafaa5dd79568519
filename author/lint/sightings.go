package lint

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// sightings are what samples show, each once, however many show it. What a line
// of the templates already says wrongly of itself is not said again.
type sightings struct {
	said    map[template.Place]bool // lines: their columns are 0
	dropped map[string]bool         // files of a status of which something is said
	order   []sighting
	by      map[sighting][]string // the samples, by what they show
	class   map[sighting]typecheck.Class
}

// A sighting is one thing that is wrong at a place.
type sighting struct {
	place template.Place
	text  string
	// fails: it keeps the sample from rendering.
	fails bool
}

func newSightings(said []typecheck.Finding) *sightings {
	s := &sightings{said: map[template.Place]bool{}, dropped: map[string]bool{}, by: map[sighting][]string{},
		class: map[sighting]typecheck.Class{}}
	for _, f := range said {
		s.said[lineOf(f.Place)] = true
		s.dropped[f.Place.File] = s.dropped[f.Place.File] || f.Class == DroppedStatus
	}
	return s
}

func lineOf(p template.Place) template.Place { return template.Place{File: p.File, Line: p.Line} }

// recordChild records what is wrong with a child of the sample at from.
func (s *sightings) recordChild(class typecheck.Class, place template.Place, text, from string) {
	s.recordSighting(sighting{place: place, text: text}, class, from)
}

// recordFailure records why a sample does not render.
func (s *sightings) recordFailure(f typecheck.Finding, from string) {
	s.recordSighting(sighting{place: f.Place, text: f.Text, fails: true}, f.Class, from)
}

// recordSighting adds a sample to those that show a sighting, unless a finding covers its line
// already.
func (s *sightings) recordSighting(what sighting, class typecheck.Class, from string) {
	if s.said[lineOf(what.place)] || what.fails && s.dropped[what.place.File] {
		return
	}
	by := s.by[what]
	if len(by) == 0 {
		s.order = append(s.order, what)
		s.class[what] = class
	}
	if len(by) == 0 || by[len(by)-1] != from {
		s.by[what] = append(by, from)
	}
}

// toFindings returns a finding for each sighting, in order, with the samples that show it.
func (s *sightings) toFindings() []typecheck.Finding {
	var all []typecheck.Finding
	for _, what := range s.order {
		f := typecheck.Finding{Class: s.class[what], Place: what.place}
		by, more := s.by[what], ""
		if len(by) > 1 {
			more = fmt.Sprintf(" and %d more", len(by)-1)
		}
		if what.fails {
			f.Text = fmt.Sprintf("%s does not render: %s", by[0]+more, what.text)
			if len(by) > 1 {
				f.Text = fmt.Sprintf("%s do not render: %s", by[0]+more, what.text)
			}
		} else {
			f.Text = fmt.Sprintf("%s (rendered for %s)", what.text, by[0]+more)
		}
		all = append(all, f)
	}
	return all
}
