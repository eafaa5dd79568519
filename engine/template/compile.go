package template

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"
	"unicode/utf8"
)

// A Source is one file of a folder: what its author wrote.
type Source struct {
	// Name is what other templates call it: the stem of a child's file
	// ("deployment"), or the file's name for a partial.
	Name string
	// File is how errors call it, such as templates/foos.example.com/x.yaml.
	File string
	Text string
}

// An Input is what a folder's templates are compiled of.
type Input struct {
	Sources []Source
	// Files are the texts that `file` gives, by name.
	Files map[string]string
	// Config are the settings that `config` gives, by key; only the keys are
	// looked at.
	Config map[string]any
	Limits Limits
}

// A Set is the compiled templates of one folder. It is immutable and may be
// executed by many goroutines.
type Set struct {
	files   map[string]*routine
	defines map[string]*routine
	trees   map[string]*parse.Tree
	texts   map[string]string
	config  map[string]any
	limits  Limits
	shapes  *shapeCache
	asks    []Ask
	// shared are the files that others ask for: true if some file asks for the text,
	// false if files only await the objects.
	shared map[string]bool
	lost   map[string]bool
	// called are the sources, by File, of what the files reach.
	called map[string]bool
	used   readUses
}

// A routine is one compiled template: a file or a define.
type routine struct {
	name  string
	src   *source
	body  block
	slots int
	asks  []Ask
	needs []need
	calls []*routine
	// callsAny: it includes by a computed name.
	callsAny bool
}

// Compile parses and compiles all files of a folder. Its error joins an *Error
// for everything that is wrong: syntax, unknown and refused functions, names
// defined twice, templates, files and settings that do not exist, files that
// render each other in a circle. With an error the Set
// only shows the trees of those files that parse.
func Compile(in Input) (*Set, error) {
	sources := in.Sources
	s := &Set{
		files: map[string]*routine{}, defines: map[string]*routine{}, trees: map[string]*parse.Tree{},
		texts: in.Files, config: in.Config, limits: in.Limits.withDefaults(), shapes: newShapeCache(),
		shared: map[string]bool{}, lost: map[string]bool{}, called: map[string]bool{},
	}
	var errs []error
	parsed := make([]map[string]*parse.Tree, len(sources))
	for i, in := range sources {
		trees, err := parseSource(in)
		errs = append(errs, err)
		parsed[i] = trees
		if err != nil {
			s.recordLost(in)
		}
	}
	for i, in := range sources {
		errs = append(errs, s.declareNames(in, parsed[i]))
	}
	for i, in := range sources {
		errs = append(errs, s.compileSource(in, parsed[i]))
	}
	errs = append(errs, s.connectFiles(sources)...)
	s.used = s.findUses()
	return s, errors.Join(errs...)
}

var defineAction = regexp.MustCompile(`\{\{-?\s*(?:define|block)\s+"([^"]*)"`)

// recordLost records what a file that does not parse would have declared, so that nobody reports
// that it is not there.
func (s *Set) recordLost(in Source) {
	s.lost["file "+in.Name] = true
	for _, m := range defineAction.FindAllStringSubmatch(in.Text, -1) {
		s.lost[m[1]] = true
	}
}

// Calls reports whether some file calls a define of this one, which is named as
// the File of its Source.
func (s *Set) Calls(file string) bool { return s.called[file] }

// Tree returns the parse tree of a file, or nil.
func (s *Set) Tree(name string) *parse.Tree { return s.trees[name] }

// Defines returns the parse trees of all defines by name.
func (s *Set) Defines() map[string]*parse.Tree {
	trees := map[string]*parse.Tree{}
	for name := range s.defines {
		trees[name] = s.trees["define "+name]
	}
	return trees
}

// parseSource parses one file; the tree of the file itself stands under "".
func parseSource(in Source) (map[string]*parse.Tree, error) {
	src := newSource(in)
	if err := errors.Join(src.checkCharacters(), src.checkNesting()); err != nil {
		return nil, err
	}
	trees := map[string]*parse.Tree{}
	tree := parse.New(in.File)
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(in.Text, "", "", trees); err != nil {
		return nil, syntaxError(src, err)
	}
	if err := src.checkPipes(); err != nil {
		return nil, err
	}
	if trees[in.File] == nil { // nothing but blanks and defines
		tree.Root = &parse.ListNode{NodeType: parse.NodeList}
	}
	delete(trees, in.File)
	trees[""] = tree
	return trees, nil
}

func privateUse(r rune) bool { return r >= 0xE000 && r <= 0xF8FF }

// otherBreak reports whether YAML takes a character for the end of a line and
// people do not.
func otherBreak(r rune) bool { return r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029 }

// checkCharacters refuses characters that would make a template something else than it looks.
func (src *source) checkCharacters() error {
	for i, r := range src.text {
		switch {
		case privateUse(r):
			return pos{src, i}.errorAt("the template holds a private-use character (U+E000 to U+F8FF): write it as an escape in a quoted string")
		case otherBreak(r) && !strings.HasPrefix(src.text[i:], "\r\n"):
			return pos{src, i}.errorAt("the template holds the character %U, which YAML takes for the end of a line: write it as an escape in a quoted string", r)
		case r == utf8.RuneError && !strings.HasPrefix(src.text[i:], string(utf8.RuneError)):
			return pos{src, i}.errorAt("the template is not valid UTF-8")
		case r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7F:
			return pos{src, i}.errorAt("the template holds the control character %U: write it as an escape in a quoted string", r)
		}
	}
	return nil
}

// declareNames enters the names of a file and its defines, so that calls can be checked and
// compiled in any order.
func (s *Set) declareNames(in Source, trees map[string]*parse.Tree) error {
	src := newSource(in)
	if trees == nil {
		return nil
	}
	s.files[in.Name] = &routine{name: in.Name, src: src}
	s.trees[in.Name] = trees[""]
	var errs []error
	for _, name := range sortedKeys(trees) {
		if name == "" {
			continue
		}
		if other, taken := s.defines[name]; taken {
			errs = append(errs, pos{src, int(trees[name].Root.Pos)}.errorAt("the template %q is defined in %s already", name, other.src.file))
			continue
		}
		s.defines[name] = &routine{name: name, src: src}
		s.trees["define "+name] = trees[name]
	}
	return errors.Join(errs...)
}

func (s *Set) compileSource(in Source, trees map[string]*parse.Tree) error {
	var errs []error
	for _, name := range sortedKeys(trees) { // none if the file does not parse
		into := s.files[in.Name]
		if name != "" {
			into = s.defines[name]
		}
		if into.src.file != in.File { // the name is taken, which was said
			continue
		}
		c := &compiler{set: s, into: into, src: into.src, scope: []string{"$"}, made: map[string]bool{}}
		into.body = c.compileList(trees[name].Root)
		into.slots = c.most
		errs = append(errs, c.errs...)
	}
	return errors.Join(errs...)
}

// A compiler compiles one routine; it collects errors and goes on.
type compiler struct {
	set   *Set
	into  *routine
	src   *source
	scope []string // names of the variables in scope; their index is the slot
	most  int
	errs  []error
	// piped is the command whose value the one being compiled gets.
	piped *parse.CommandNode
	// made are the variables that hold something other than a field as it
	// stands.
	made map[string]bool
}

// posOf returns the position of a node.
func (c *compiler) posOf(n parse.Node) pos { return pos{c.src, Offset(n)} }

// Offset is where a node of one of the set's parse trees begins in its file, in bytes. The
// parser puts the node of several fields at the second one.
func Offset(n parse.Node) int {
	off := int(n.Position())
	switch n := n.(type) {
	case *parse.FieldNode:
		if len(n.Ident) > 1 {
			off -= len(n.Ident[0]) + 1
		}
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			off -= len(n.Ident[0])
		}
	}
	return off
}

// addError records an error at a node.
func (c *compiler) addError(n parse.Node, format string, args ...any) {
	c.errs = append(c.errs, c.posOf(n).errorAt(format, args...))
}

// declareVar puts a variable in scope and returns its slot.
func (c *compiler) declareVar(name string) int {
	c.scope = append(c.scope, name)
	c.most = max(c.most, len(c.scope))
	return len(c.scope) - 1
}

// slotOf finds a variable. The parser has checked that it exists.
func (c *compiler) slotOf(name string) int {
	for i := len(c.scope) - 1; i >= 0; i-- {
		if c.scope[i] == name {
			return i
		}
	}
	return 0
}

// compileScope compiles a part of a template, and then forgets the variables that were declared in
// it.
func (c *compiler) compileScope(f func()) {
	depth := len(c.scope)
	f()
	c.scope = c.scope[:depth]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Place is where a node of one of the set's parse trees stands.
func (s *Set) Place(tree *parse.Tree, n parse.Node) Place {
	if at := s.findPosition(tree, n); at.src != nil {
		return at.toPlace()
	}
	return Place{File: tree.ParseName}
}

// Quote is the action {{ … }} that a node of one of the set's parse trees stands in, as
// errors quote it.
func (s *Set) Quote(tree *parse.Tree, n parse.Node) string {
	return s.findPosition(tree, n).quoteAction()
}

// findPosition returns the position of a node; it has no source if the tree is not the set's.
func (s *Set) findPosition(tree *parse.Tree, n parse.Node) pos {
	for _, routines := range []map[string]*routine{s.files, s.defines} {
		for _, r := range routines {
			if r.src.file == tree.ParseName {
				return pos{r.src, Offset(n)}
			}
		}
	}
	return pos{}
}
