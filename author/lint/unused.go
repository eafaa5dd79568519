package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// checkUnused finds what nobody needs. These are partials that are never called, rules of kind.yaml
// without effect, and fields that no template reads.
func (l *linter) checkUnused() {
	l.checkPartials()
	for _, idle := range append(l.kind.Ignored(), l.kind.Idle()...) {
		l.add(UnusedRule, idle.Place, idle.Text)
	}
	u := &unusedFields{linter: l, rules: l.validationRules(), meant: l.suggestedPaths(), reads: l.read()}
	root := schema.Root(l.kind.Version)
	for _, name := range root.Fields() {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			field, _ := root.Field(name)
			u.checkField(field, name, u.schemaPath()+".properties."+name)
		}
	}
}

// checkPartials finds defines of the folder's own that nothing calls.
func (l *linter) checkPartials() {
	for _, name := range slices.Sorted(maps.Keys(l.kind.Templates.Defines())) {
		if !l.flow.Called[name] {
			if place, own := l.placeOfDefine(name); own {
				l.add(UnusedPartial, place, fmt.Sprintf("nothing calls %q: remove it, or include it", name))
			}
		}
	}
}

// placeOfDefine returns where a define stands. own is false for one of templates/_lib, which other
// kinds may call.
func (l *linter) placeOfDefine(name string) (place template.Place, own bool) {
	begin := regexp.MustCompile(`\{\{-?\s*(define)\s+["` + "`" + `]` + regexp.QuoteMeta(name) + `["` + "`" + `]`)
	for _, file := range slices.Sorted(maps.Keys(l.texts)) {
		for i, line := range l.texts[file] {
			if m := begin.FindStringIndex(line); m != nil {
				return template.Place{File: file, Line: i + 1, Column: utf8.RuneCountInString(line[:m[0]]) + 1},
					!strings.Contains(file, "templates/"+folder.LibName+"/")
			}
		}
	}
	return template.Place{}, false
}

// unusedFields walks the schema of a CRD for fields that nothing reads.
type unusedFields struct {
	*linter
	// rules is the text of all validation rules of the schema.
	rules string
	// meant are paths that misspelt ones most likely mean.
	meant []string
	// reads are the paths that somebody reads.
	reads map[string]typecheck.Read
}

// read are the paths of the resource that the templates read, there or in other
// resources of the kind, and those that the CRD itself shows, selects by or
// scales.
func (l *linter) read() map[string]typecheck.Read {
	all := maps.Clone(l.flow.Reads)
	for path, how := range l.flow.Peers {
		how.Whole = how.Whole || all[path].Whole
		all[path] = how
	}
	for _, at := range l.jsonPaths() {
		path := strings.TrimPrefix(inBrackets.ReplaceAllString(stepInQuotes.ReplaceAllString(at.path, ".$1"), "[]"), ".")
		all[path] = typecheck.Read{Whole: true}
	}
	return all
}

var (
	stepInQuotes = regexp.MustCompile(`\['([^']+)'\]`)
	inBrackets   = regexp.MustCompile(`\[[^\]]*\]`)
)

var didYouMean = regexp.MustCompile(`did you mean ([^ ?]+)\?$`)

// suggestedPaths returns the paths of the resource that findings suggest for misspelt ones. They
// are read once these are corrected.
func (l *linter) suggestedPaths() []string {
	var all []string
	for _, f := range l.findings {
		if m := didYouMean.FindStringSubmatch(f.Text); m != nil && f.Class == typecheck.UnknownField && f.Read == "" {
			all = append(all, m[1])
		}
	}
	return all
}

// checkField checks the field of a path. written is its path in the CRD's file.
func (u *unusedFields) checkField(t *schema.Type, path, written string) {
	read, whole := u.read(path)
	if whole || u.hasRule(path) && !read || slices.Contains(u.meant, path) {
		return
	}
	if !read && u.isMisspelt(path) {
		return
	}
	if !read {
		line, column := crdfile.LocateIn(u.kind.CRD, written)
		name := path[strings.LastIndex(path, ".")+1:]
		u.findings = append(u.findings, typecheck.Finding{
			Class: UnusedField, Length: utf8.RuneCountInString(name),
			Place: template.Place{File: u.kind.CRD.File, Line: line, Column: column},
			Text:  fmt.Sprintf("no template reads %s: use it, or take it out of the schema", path),
		})
		return
	}
	u.checkInside(t, path, written)
}

// isMisspelt reports whether a template reads the path under another name, which is a finding of
// its own.
func (u *unusedFields) isMisspelt(path string) bool {
	return slices.ContainsFunc(u.flow.Findings, func(f typecheck.Finding) bool {
		return f.Class == typecheck.UnknownField && strings.HasSuffix(f.Text, "; did you mean "+path+"?")
	})
}

// checkInside checks the fields below one that is read.
func (u *unusedFields) checkInside(t *schema.Type, path, written string) {
	switch t.Kind() {
	case schema.KindList:
		u.checkInside(t.Elem(), path+"[]", written+".items")
	case schema.KindFreeMap:
		u.checkInside(t.Elem(), path+".*", written+".additionalProperties")
	case schema.KindObject:
		for _, name := range t.Fields() {
			field, _ := t.Field(name)
			u.checkField(field, path+"."+name, written+".properties."+name)
		}
	}
}

// read reports whether something at or below a path is read, and whether all of
// it is.
func (u *unusedFields) read(path string) (read, whole bool) {
	for at, how := range u.reads {
		// What ranges over a map with declared fields reads each of them.
		all, ranged := strings.CutSuffix(at, ".*")
		if how.Whole && (at == path || at == "" || isBelow(path, at)) || ranged && isBelow(path, all) && !strings.HasPrefix(path, at) {
			return true, true
		}
		read = read || at == path || isBelow(at, path)
	}
	return read, false
}

// isBelow reports whether a path is below another.
func isBelow(path, other string) bool {
	rest, found := strings.CutPrefix(path, other)
	return found && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// hasRule reports whether a validation rule names the field. Such a field decides about others.
func (u *unusedFields) hasRule(path string) bool {
	name := path[strings.LastIndexAny(path, ".]")+1:]
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(u.rules)
}

// schemaPath is where the schema of the kind's version stands in the CRD.
func (l *linter) schemaPath() string {
	return fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", l.versionIndex())
}

// validationRules returns the text of all validation rules of the kind's version.
func (l *linter) validationRules() string {
	var b strings.Builder
	for _, v := range l.kind.CRD.Object.Spec.Versions {
		if v.Name == l.kind.Version.Name && v.Schema != nil {
			writeRules(&b, v.Schema.OpenAPIV3Schema)
		}
	}
	return b.String()
}

func writeRules(b *strings.Builder, s *apiextensionsv1.JSONSchemaProps) {
	if s == nil {
		return
	}
	for _, rule := range s.XValidations {
		b.WriteString(rule.Rule + "\n")
	}
	for _, below := range s.Properties {
		writeRules(b, &below)
	}
	if s.Items != nil {
		writeRules(b, s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		writeRules(b, s.AdditionalProperties.Schema)
	}
}
