package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Silenced is a finding that somebody who knows better has silenced.
type Silenced struct {
	typecheck.Finding
	// Reason is why, in their words.
	Reason string
}

// A silencer is a comment that silences the findings of a class on a line.
type silencer struct {
	place  template.Place
	about  template.Place // the line; its column is 0
	class  typecheck.Class
	reason string
	// wrong is why it silences nothing, "" if nothing is wrong with it.
	wrong string
	used  bool
}

var (
	inTemplate = regexp.MustCompile(`\{\{-?\s*/\*\s*jacquard:ignore\b(.*?)\*/\s*-?\}\}`)
	inYAML     = regexp.MustCompile(`(?:^|\s)#\s*jacquard:ignore\b(.*)$`)
)

// applySilencers separates findings from those that comments silence. It adds findings for comments
// that lack a part or silence nothing.
func (l *linter) applySilencers(all []typecheck.Finding) (loud []typecheck.Finding, silenced []Silenced) {
	on := map[template.Place][]*silencer{}
	silencers := l.findSilencers()
	for _, s := range silencers {
		on[s.about] = append(on[s.about], s)
	}
	for _, f := range all {
		i := slices.IndexFunc(on[lineOf(f.Place)], func(s *silencer) bool { return s.wrong == "" && s.class == f.Class })
		switch {
		case i < 0:
			loud = append(loud, f)
		case l.preventsLoading(f):
			on[lineOf(f.Place)][i].wrong = "what keeps the folder from loading cannot be silenced: mend it"
			loud = append(loud, f)
		default:
			s := on[lineOf(f.Place)][i]
			s.used = true
			silenced = append(silenced, Silenced{f, s.reason})
		}
	}
	for _, s := range silencers {
		// A partial of templates/_lib may have a finding with another kind, and a CRD
		// when it is compared.
		if s.wrong == "" && !s.used && l.kind != nil && s.class != BreakingCRD &&
			!strings.Contains(s.place.File, "templates/"+folder.LibName+"/") {
			s.wrong = fmt.Sprintf("nothing of the class %s is found on line %d: take this comment out", s.class, s.about.Line)
		}
		if s.wrong != "" {
			loud = append(loud, typecheck.Finding{Class: InvalidIgnore, Place: s.place, Length: len("jacquard:ignore"), Text: s.wrong})
		}
	}
	return loud, silenced
}

// preventsLoading reports whether a finding prevents the folder from loading.
func (l *linter) preventsLoading(f typecheck.Finding) bool {
	return l.kind == nil || f.Class == typecheck.UnknownField && f.Read == "" && f.Path != "" && f.Place.File != l.kind.CRD.File
}

// findSilencers returns the silencing comments of the kind's files, in order.
func (l *linter) findSilencers() []*silencer {
	var all []*silencer
	for _, file := range slices.Sorted(maps.Keys(l.texts)) {
		all = append(all, silencersOf(file, l.texts[file], inTemplate)...)
	}
	for _, file := range l.settingsFiles() {
		all = append(all, silencersOf(file.Shown, strings.Split(string(file.Data), "\n"), inYAML)...)
	}
	return all
}

// settingsFiles returns the files of the kind that are no templates.
func (l *linter) settingsFiles() []folder.File {
	var all []folder.File
	if f := l.catalog.Folder(l.name); f != nil {
		for _, file := range []*folder.File{f.Settings, f.Config, f.Health} {
			if file != nil {
				all = append(all, *file)
			}
		}
	}
	if crd := l.catalog.Definition(l.name); crd.Shown != "" {
		all = append(all, crd)
	}
	return all
}

// silencersOf are the comments of one file. One that is alone on its line is
// about the next line that holds more.
func silencersOf(file string, lines []string, form *regexp.Regexp) []*silencer {
	var all, alone []*silencer
	for i, line := range lines {
		at := strings.Index(line, "jacquard:ignore")
		if at < 0 && strings.TrimSpace(line) == "" {
			continue
		}
		if at < 0 {
			alone = assignLine(alone, i+1)
			continue
		}
		s := &silencer{
			place: template.Place{File: file, Line: i + 1, Column: utf8.RuneCountInString(line[:at]) + 1},
			about: template.Place{File: file, Line: i + 1},
		}
		all = append(all, s)
		m := form.FindStringSubmatchIndex(line)
		if m == nil {
			s.wrong = "this silences nothing: in a template write {{/* jacquard:ignore CLASS: reason */}} on one line, in YAML # jacquard:ignore CLASS: reason"
			continue
		}
		s.read(line[m[2]:m[3]])
		if strings.TrimSpace(line[:m[0]]+line[m[1]:]) == "" {
			alone = append(alone, s)
		} else {
			alone = assignLine(alone, i+1)
		}
	}
	return all
}

// assignLine makes the comments apply to a line. It returns nil, since none is left to assign.
func assignLine(alone []*silencer, line int) []*silencer {
	for _, s := range alone {
		s.about.Line = line
	}
	return nil
}

// read takes up what a comment says.
func (s *silencer) read(text string) {
	class, reason, _ := strings.Cut(text, ":")
	s.class, s.reason = typecheck.Class(strings.TrimSpace(class)), strings.TrimSpace(reason)
	switch now := renamedClasses[s.class]; {
	case now != "":
		s.wrong = fmt.Sprintf("the class %s is called %s now", s.class, now)
	case !Silenceable(s.class):
		s.wrong = fmt.Sprintf("there is no class %q that can be silenced: write jacquard:ignore CLASS: reason, with the class that the finding has", s.class)
	case s.reason == "":
		s.wrong = fmt.Sprintf("this gives no reason: write jacquard:ignore %s: reason", s.class)
	}
}
