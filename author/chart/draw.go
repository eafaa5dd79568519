package chart

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v3"
)

// drawn are the functions that draw a text, and its length where they are not
// told one.
var drawn = map[string]int{
	"randAlphaNum": 0, "randAlpha": 0, "randAscii": 0, "randNumeric": 0, "randBytes": 0,
	"uuidv4": 36, "derivePassword": 24,
}

const longestDrawn = 256

// rewriteRandom replaces a random text by one that is drawn once, in the Secret that it is for.
func (r *rewriter) rewriteRandom(p *parse.PipeNode, i int) bool {
	cmd := p.Cmds[i]
	name := cmd.Args[0].(*parse.IdentifierNode).Ident
	at := r.commandSpan(cmd)
	home, key, ok := r.findHome(at.from, 0)
	if !ok || i > 0 {
		r.refuseCommand(p, i, name+" outside of one key of a Secret", `draw it once, in a Secret: {{ stable "secret" "password" 24 }}`)
		return true
	}
	length, said := r.drawnLength(cmd, drawn[name])
	if length < 1 || length > longestDrawn {
		r.refuseCommand(p, i, name+" of a computed length", fmt.Sprintf("write {{ stable %q %q 24 }}, with the length that you want", home, key))
		return true
	}
	if said != "" || name != "randAlphaNum" {
		r.source.noteAt(at.from, r.textOf(at), fmt.Sprintf("drawn by stable, once, as %d letters and digits%s", length, said))
	}
	r.replaceSpan(at, fmt.Sprintf("stable %q %q %d", home, key, length))
	return true
}

// drawnLength returns the length that a call asks for. If it is the length of a default, it also
// returns a remark on that.
func (r *rewriter) drawnLength(cmd *parse.CommandNode, otherwise int) (n int, said string) {
	if otherwise > 0 || len(cmd.Args) != 2 {
		return otherwise, ""
	}
	if number, ok := cmd.Args[1].(*parse.NumberNode); ok && number.IsInt {
		return int(number.Int64), ""
	}
	paths, certain := valuesIn(cmd.Args[1])
	if !certain || len(paths) != 1 {
		return 0, ""
	}
	node := nodeAt(r.values, paths[0])
	if node == nil || node.Kind != yaml.ScalarNode {
		return 0, ""
	}
	n, _ = strconv.Atoi(node.Value)
	return n, ": the length is that of values.yaml, since it must be written out"
}

var keyBefore = regexp.MustCompile(`^\s*["']?([A-Za-z0-9._-]+)["']?:\s`)

// findHome returns the file and key of the Secret that a text is drawn for. They are those of its
// line, of the line that prints its variable, or of the line that includes its define.
func (r *rewriter) findHome(off, depth int) (file, key string, ok bool) {
	if depth > 4 {
		return "", "", false
	}
	if in := r.defineAt(off); in != "" {
		return r.homeOfDefine(in, depth)
	}
	d := r.documentAt(off)
	if d == nil || d.kind != "Secret" || d.apiVersion != "v1" || r.isPartial() || r.hasOthers("Secret", d) {
		return "", "", false
	}
	a := r.actionAt(off)
	if m := keyBefore.FindStringSubmatch(r.lineOf(a.from)); m != nil {
		return r.stemName(), m[1], true
	}
	if m := assigned.FindStringSubmatch(r.text[a.begin:a.end]); m != nil {
		prints := regexp.MustCompile(`(?m)^\s*["']?([A-Za-z0-9._-]+)["']?:[^\n]*\{\{[^}\n]*\` + m[1] + `\b`)
		found := prints.FindAllStringSubmatch(r.textOf(span{a.to, d.to}), -1)
		if len(found) == 1 {
			return r.stemName(), found[0][1], true
		}
	}
	return "", "", false
}

var assigned = regexp.MustCompile(`^\s*(\$\w+)\s*:?=`)

// homeOfDefine is the home that all that include a define agree on.
func (r *rewriter) homeOfDefine(name string, depth int) (file, key string, ok bool) {
	calls := regexp.MustCompile(`(?:include|template)\s+"` + regexp.QuoteMeta(name) + `"`)
	for _, s := range r.sources {
		if s.left {
			continue
		}
		caller := &rewriter{r.conversion, s}
		for _, at := range calls.FindAllStringIndex(s.text, -1) {
			if s.isGone(at[0]) {
				continue
			}
			f, k, found := caller.findHome(at[0], depth+1)
			if !found || ok && (f != file || k != key) {
				return "", "", false
			}
			file, key, ok = f, k, true
		}
	}
	return file, key, ok
}

// hasOthers reports whether the file has another document of that kind.
func (r *rewriter) hasOthers(kind string, d *document) bool {
	return slices.ContainsFunc(r.findDocuments(), func(o *document) bool { return o.kind == kind && o.from != d.from })
}

// lineOf is the line up to off.
func (s *source) lineOf(off int) string {
	return s.text[strings.LastIndexByte(s.text[:off], '\n')+1 : off]
}

// lineSpan is the line that off is in, its break included.
func (s *source) lineSpan(off int) span {
	to := len(s.text)
	if i := strings.IndexByte(s.text[off:], '\n'); i >= 0 {
		to = off + i + 1
	}
	return span{off - len(s.lineOf(off)), to}
}

var (
	wholeEntry = regexp.MustCompile(`^[ \t]*["']?[\w./-]+["']?:[ \t]*["']?\{\{[^\n]*\}\}["']?[ \t]*\n?$`)
	annotated  = regexp.MustCompile(`^\s*annotations:\s*$`)
)

// annotationLine returns the line of an action that is the whole value of an annotation.
func (s *source) annotationLine(off int) (span, bool) {
	line := s.lineSpan(off)
	text := s.textOf(line)
	if !wholeEntry.MatchString(text) || strings.Count(text, "{{") != 1 {
		return span{}, false
	}
	above, ok := s.lineAbove(line)
	return line, ok && annotated.MatchString(strings.TrimRight(s.textOf(above), "\n"))
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
