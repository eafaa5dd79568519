package chart

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
	"unicode/utf8"
)

// rewriteMethod rewrites calls of the methods of Helm objects, which read files and return what the
// cluster serves.
func (r *rewriter) rewriteMethod(p *parse.PipeNode, i int) bool {
	cmd := p.Cmds[i]
	found := helmPath(cmd.Args[0])
	if len(cmd.Args) != 2 || len(found) < 2 {
		return false
	}
	call, ok := "", false
	switch strings.Join(found, ".") {
	case "Files.Get", "Files.GetBytes":
		call, ok = r.fileCall(cmd.Args[1])
	case "Files.Lines":
		call, ok = r.fileCall(cmd.Args[1])
		call = `splitList "\n" (` + call + ")"
	case "Files.Glob":
		call, ok = r.globDict(cmd.Args[1], func(name string) string { return name }, "")
	case "Capabilities.APIVersions.Has":
		call, ok = r.has(cmd)
	default:
		return false
	}
	at := r.commandSpan(cmd)
	if !ok {
		what, do := fieldAdvice(found)
		r.refuseCommand(p, i, r.textOf(at), do+what)
		return true
	}
	r.replaceSpan(at, call)
	return true
}

// helmPath returns the fields of the object of Helm that an operand names, or nil.
func helmPath(n parse.Node) []string {
	var names []string
	switch n := n.(type) {
	case *parse.FieldNode:
		names = n.Ident
	case *parse.VariableNode:
		names = n.Ident
	}
	if i := magicAt(names); i >= 0 {
		return names[i:]
	}
	return nil
}

// rewriteChain rewrites (.Files.Glob "x/*").AsConfig and .AsSecrets.
func (r *rewriter) rewriteChain(n *parse.ChainNode, alone bool) bool {
	p, ok := n.Node.(*parse.PipeNode)
	if !ok || len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 2 || strings.Join(helmPath(p.Cmds[0].Args[0]), ".") != "Files.Glob" {
		return false
	}
	encode, known := map[string]string{"AsConfig": "", "AsSecrets": " | b64enc"}[n.Field[0]]
	at := r.operandSpan(n)
	call, ok := r.globDict(p.Cmds[0].Args[1], path.Base, encode)
	if !known || !ok {
		what, do := fieldAdvice([]string{"Files"})
		r.replaceByFail(at, !alone, r.textOf(at), do+what)
		return true
	}
	call = "toYaml (" + call + ")"
	if !alone {
		call = "(" + call + ")"
	}
	r.replaceSpan(at, call)
	return true
}

// literalFile is the file that an expression gets, if it says so literally.
func (r *rewriter) literalFile(node parse.Node) (string, bool) {
	p, ok := node.(*parse.PipeNode)
	if !ok || len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 2 ||
		!slices.Contains([]string{"Files.Get", "Files.GetBytes"}, strings.Join(helmPath(p.Cmds[0].Args[0]), ".")) {
		return "", false
	}
	name, ok := p.Cmds[0].Args[1].(*parse.StringNode)
	if !ok {
		return "", false
	}
	return path.Clean(name.Text), r.files[path.Clean(name.Text)] != nil
}

// fileCall is what gets a file: one of a literal name, or one of all that a
// glob of this file names.
func (r *rewriter) fileCall(name parse.Node) (string, bool) {
	literal, ok := name.(*parse.StringNode)
	if ok {
		as, there := r.takeFile(path.Clean(literal.Text))
		return "file " + strconv.Quote(as), there
	}
	var all []string
	for _, m := range globbed.FindAllStringSubmatch(r.text, -1) {
		all = append(all, r.matchFiles(m[1])...)
	}
	if _, computed := name.(*parse.VariableNode); !computed || len(all) == 0 {
		return "", false
	}
	call, ok := r.dictOf(all, func(name string) string { return name }, "")
	return "index (" + call + ") " + r.textOf(r.operandSpan(name)), ok
}

var globbed = regexp.MustCompile(`\.Files\.Glob\s+"([^"]+)"`)

// globDict returns a dict of the files that a literal pattern matches. key makes the keys of their
// paths.
func (r *rewriter) globDict(pattern parse.Node, key func(string) string, encode string) (string, bool) {
	literal, ok := pattern.(*parse.StringNode)
	if !ok {
		return "", false
	}
	return r.dictOf(r.matchFiles(literal.Text), key, encode)
}

func (r *rewriter) dictOf(names []string, key func(string) string, encode string) (string, bool) {
	var b strings.Builder
	b.WriteString("dict")
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		as, ok := r.takeFile(name)
		if !ok {
			return "", false
		}
		fmt.Fprintf(&b, " %q (file %q%s)", key(name), as, encode)
	}
	return b.String(), true
}

// matchFiles returns the files that a glob of Helm matches.
func (v *conversion) matchFiles(glob string) []string {
	pattern := regexp.QuoteMeta(glob)
	for _, part := range [][2]string{{`\*\*`, `.*`}, {`\*`, `[^/]*`}, {`\?`, `[^/]`}, {`\{`, `(?:`}, {`\}`, `)`}, {`,`, `|`}} {
		pattern = strings.ReplaceAll(pattern, part[0], part[1])
	}
	matches, err := regexp.Compile("^" + pattern + "$")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(sortedKeys(v.files), func(name string) bool { return !matches.MatchString(name) })
}

// takeFile copies a file into files/, which has no folders.
func (r *rewriter) takeFile(name string) (as string, ok bool) {
	data, there := r.files[name]
	if !there || !utf8.Valid(data) {
		return "", false
	}
	if as := r.taken[name]; as != "" {
		return as, true
	}
	as = path.Base(name)
	for _, other := range r.taken {
		if other == as {
			as = strings.ReplaceAll(name, "/", "-")
		}
	}
	r.taken[name] = as
	return as, true
}

// addPartial makes a partial of a file that is a template, called by a name.
func (r *rewriter) addPartial(name, called string) {
	as := "_" + strings.ReplaceAll(strings.TrimLeft(name, "_."), "/", "-") + ".tpl"
	r.addText(name, as, called, string(r.files[name])+"\n")
}

// addText makes a partial of a text of the chart, and reports whether it could.
func (r *rewriter) addText(from, as, called, text string) bool {
	if slices.ContainsFunc(r.sources, func(s *source) bool { return s.as == as }) {
		return true
	}
	text = strings.TrimSuffix(text, "\n")
	s := &source{name: from, as: as, text: "{{- define " + strconv.Quote(called) + " -}}\n" + text + "{{- end }}\n"}
	if err := s.parse(); err != nil {
		r.conversion.addNote(Note{File: from, What: "a template that cannot be read", Do: err.Error()})
		return false
	}
	r.sources = append(r.sources, s)
	r.conversion.defines[called] = &define{source: s, tree: s.defines[called], block: s.blockOf(called)}
	(&rewriter{r.conversion, s}).list(s.defines[called].Root)
	return true
}
