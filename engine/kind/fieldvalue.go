package kind

import (
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A fieldValue is a value in a template: a path of the resource, a path of something that
// is read, or unknown.
type fieldValue struct {
	// path is such as "spec.env[].name"; it is "" for the resource itself.
	path string
	typ  *schema.Type
	// isKnown reports that the value is what stands at path.
	isKnown bool
	// isRead reports that path begins at something else than the resource, such as
	// `(child "web").status`.
	isRead bool
	// optional are the parts of path that may be absent.
	optional []string
	// from are the paths that an unknown value is made of.
	from []string
}

// madeOf returns the paths that the value is made of.
func (v fieldValue) madeOf() []string {
	if v.isKnown {
		return []string{v.path}
	}
	return v.from
}

// findField returns a field of the value. It is not declared if the schema of the resource
// has no such field.
func (v fieldValue) findField(name string) (field fieldValue, isDeclared bool) {
	if !v.isKnown {
		return v, true
	}
	typ, found := v.typ.Field(name)
	if !found {
		return fieldValue{from: []string{v.path}}, v.isRead
	}
	field = fieldValue{path: v.pathBelow(name), typ: typ, isKnown: true, isRead: v.isRead, optional: v.optional}
	if !v.typ.Always(name) {
		field.optional = append(slices.Clip(v.optional), field.path)
	}
	return field, true
}

// pathBelow returns the path of a field.
func (v fieldValue) pathBelow(name string) string {
	switch {
	case v.typ.Kind() == schema.KindFreeMap:
		return v.path + ".*"
	case v.path == "":
		return name
	}
	return v.path + "." + name
}

// anyItem returns an item of a list, or a value of a map.
func (v fieldValue) anyItem() fieldValue {
	if !v.isKnown || v.typ.Elem() == nil {
		return fieldValue{from: itemsOf(v.madeOf())}
	}
	item := fieldValue{path: v.path + ".*", typ: v.typ.Elem(), isKnown: true, isRead: v.isRead}
	if v.typ.Kind() == schema.KindList {
		item.path = v.path + "[]"
	}
	return item
}

// itemsOf returns the paths of the items of lists.
func itemsOf(lists []string) (items []string) {
	for _, path := range lists {
		items = append(items, path+"[]")
	}
	return items
}

// hasNoItems reports whether a range refuses the value.
func (v fieldValue) hasNoItems() bool {
	kind := v.typ.Kind()
	return v.isKnown && (kind == schema.KindString || kind == schema.KindBoolean)
}

// mayBeEmpty reports whether a value that is there may count as false.
func (v fieldValue) mayBeEmpty() bool {
	if enum := v.typ.Enum(); len(enum) > 0 {
		return slices.ContainsFunc(enum, isEmpty)
	}
	switch v.typ.Kind() {
	case schema.KindObject:
		return !slices.ContainsFunc(v.typ.Fields(), v.typ.Always) && v.typ.Fewest() == 0
	case schema.KindList, schema.KindFreeMap:
		return v.typ.Fewest() == 0
	case schema.KindString:
		return v.typ.MinLength() == 0
	case schema.KindInteger, schema.KindNumber:
		least, isBounded := v.typ.Minimum()
		most, isLimited := v.typ.Maximum()
		return (!isBounded || least <= 0) && (!isLimited || most >= 0)
	}
	return true
}

// mayBeFull reports whether the value may count as true.
func (v fieldValue) mayBeFull() bool {
	enum := v.typ.Enum()
	return len(enum) == 0 || slices.ContainsFunc(enum, func(value any) bool { return !isEmpty(value) })
}

// isEmpty reports whether a value of an enumeration counts as false.
func isEmpty(value any) bool {
	switch value {
	case nil, false, "", int64(0), float64(0):
		return true
	}
	return false
}

// startOf returns the value at which the fields of an operand start, and the fields.
func (c *fieldContext) startOf(node parse.Node) (start fieldValue, fields []string) {
	switch n := node.(type) {
	case *parse.DotNode:
		return c.frame.dot, nil
	case *parse.FieldNode:
		return c.frame.dot, n.Ident
	case *parse.VariableNode:
		return c.findVariable(n.Ident[0]), n.Ident[1:]
	case *parse.ChainNode:
		return c.valueOf(n.Node), n.Field
	case *parse.PipeNode:
		if inner := withoutPipe(n); inner != n {
			return c.startOf(inner)
		}
	}
	return fieldValue{}, nil
}

// findVariable returns the value of a variable. It is not known if the variable is assigned
// more than once.
func (c *fieldContext) findVariable(name string) fieldValue {
	for _, v := range slices.Backward(c.frame.vars) {
		if v.name == name && !c.frame.reassigned[name] {
			return v.value
		}
	}
	return fieldValue{from: []string{name}}
}

// valueOf returns the value of an expression.
func (c *fieldContext) valueOf(node parse.Node) fieldValue {
	if fn, args := callIn(node); fn != nil {
		return c.resultOf(fn, args, node)
	}
	value, fields := c.startOf(node)
	for _, name := range fields {
		var isDeclared bool
		if value, isDeclared = value.findField(name); !isDeclared {
			break
		}
	}
	return value
}

// resultOf returns the value of a call: what it reads, if it reads something.
func (c *fieldContext) resultOf(fn *parse.IdentifierNode, args []parse.Node, call parse.Node) fieldValue {
	read := fieldValue{path: "(" + fn.Ident, typ: schema.Any, isKnown: true, isRead: true}
	for i := range args {
		if text := literalAt(args, i); text != nil {
			read.path += " " + text.Quoted
		}
	}
	read.path += ")"
	switch fn.Ident {
	case "lookup", "child", "select", "children":
		read.optional = []string{read.path}
		return read
	case "hasAPI":
		read.typ = schema.Scalar(schema.KindBoolean)
		return read
	case "config":
		if key := literalAt(args, 0); key != nil && c.config[key.Text] != nil {
			read.typ = schema.Of(c.config[key.Text])
			return read
		}
	}
	return fieldValue{from: c.pathsIn(call)}
}

// pathsIn returns all paths that an expression mentions.
func (c *fieldContext) pathsIn(node parse.Node) []string {
	fn, args := callIn(node)
	if fn == nil {
		return c.valueOf(node).madeOf()
	}
	var all []string
	for _, arg := range args {
		all = append(all, c.pathsIn(arg)...)
	}
	return all
}

// callIn returns the function that an expression calls, with all of its arguments; nil if
// it calls none.
func callIn(node parse.Node) (fn *parse.IdentifierNode, args []parse.Node) {
	switch n := withoutPipe(node).(type) {
	case *parse.IdentifierNode:
		return n, nil
	case *parse.PipeNode:
		last := n.Cmds[len(n.Cmds)-1]
		fn, isCall := last.Args[0].(*parse.IdentifierNode)
		if !isCall {
			return nil, nil
		}
		args = slices.Clone(last.Args[1:])
		if before := n.Cmds[:len(n.Cmds)-1]; len(before) > 0 {
			args = append(args, &parse.PipeNode{NodeType: parse.NodePipe, Pos: n.Pos, Cmds: before})
		}
		return fn, args
	}
	return nil, nil
}

// withoutPipe returns the operand that a pipeline consists of, if it is only one.
func withoutPipe(node parse.Node) parse.Node {
	for {
		pipe, isPipe := node.(*parse.PipeNode)
		if !isPipe || len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
			return node
		}
		node = pipe.Cmds[0].Args[0]
	}
}

// literalAt returns an argument that is a literal text; else nil.
func literalAt(args []parse.Node, i int) *parse.StringNode {
	if i >= len(args) {
		return nil
	}
	text, _ := withoutPipe(args[i]).(*parse.StringNode)
	return text
}

// mayStop reports whether an expression calls a function that may end the file.
func mayStop(node parse.Node) bool {
	fn, args := callIn(node)
	return fn != nil && (slices.Contains([]string{"fail", "wait", "required"}, fn.Ident) || slices.ContainsFunc(args, mayStop))
}

// reassignedIn returns the variables that statements assign a new value.
func reassignedIn(list *parse.ListNode) map[string]bool {
	all := map[string]bool{}
	var visit func(*parse.ListNode)
	note := func(pipe *parse.PipeNode) {
		if !pipe.IsAssign {
			return
		}
		for _, variable := range pipe.Decl {
			all[variable.Ident[0]] = true
		}
	}
	visitBranch := func(n *parse.BranchNode) {
		note(n.Pipe)
		visit(n.List)
		visit(n.ElseList)
	}
	visit = func(list *parse.ListNode) {
		if list == nil {
			return
		}
		for _, node := range list.Nodes {
			switch n := node.(type) {
			case *parse.ActionNode:
				note(n.Pipe)
			case *parse.IfNode:
				visitBranch(&n.BranchNode)
			case *parse.WithNode:
				visitBranch(&n.BranchNode)
			case *parse.RangeNode:
				visitBranch(&n.BranchNode)
			}
		}
	}
	visit(list)
	return all
}

// withArticle returns a noun with its article.
func withArticle(noun string) string {
	switch {
	case strings.HasPrefix(noun, "any"):
		return noun
	case strings.ContainsRune("aeiou", rune(noun[0])):
		return "an " + noun
	}
	return "a " + noun
}
