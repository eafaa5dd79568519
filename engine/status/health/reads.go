package health

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// Item is the element of a Path that stands for every item of a list.
const Item = "[]"

// A Path is the names of fields from the top of an object, such as status,
// conditions, [], type.
type Path []string

// String returns the path as people write it, such as status.conditions[].type.
func (p Path) String() string { return strings.ReplaceAll(strings.Join(p, "."), "."+Item, Item) }

// withoutItem returns the path up to the first list of whose items it names a field: of
// a list all is kept.
func (p Path) withoutItem() Path {
	if i := slices.Index(p, Item); i >= 0 {
		return p[:i]
	}
	return p
}

// A Read is one place where an expression reads a field.
type Read struct {
	// Field is the expression of the entry, such as current.
	Field string
	// Offset is where in its text the read is, in runes.
	Offset int
	Path   Path
}

// A reader collects what an expression reads.
type reader struct {
	env  *cel.Env
	ast  *ast.AST
	from []Read
	// others are the variables besides objectFields.
	others map[string]bool
	wrong  *expressionError
}

// A scope is the variables of the macros around an expression, such as the c of
// exists(c, …), with the path of what they stand for; nil where that is not known.
type scope map[string]Path

// withVariable returns the scope with one more variable.
func (s scope) withVariable(name string, path Path) scope {
	inner := scope{name: path}
	for other, its := range s {
		if other != name {
			inner[other] = its
		}
	}
	return inner
}

// collectReads finds all fields that a parsed expression reads.
func collectReads(env *cel.Env, parsed *cel.Ast) *reader {
	r := &reader{env: env, ast: parsed.NativeRep(), others: map[string]bool{}}
	r.walkExpr(r.ast.Expr(), scope{})
	return r
}

// walkExpr records what an expression reads.
func (r *reader) walkExpr(e ast.Expr, vars scope) {
	if path := r.pathOf(e, vars); path != nil {
		r.recordRead(e, path)
		return
	}
	switch e.Kind() {
	case ast.SelectKind:
		r.walkExpr(e.AsSelect().Operand(), vars)
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() && !r.isNamespace(call.Target(), call.FunctionName()) {
			r.walkExpr(call.Target(), vars)
		}
		for _, arg := range call.Args() {
			r.walkExpr(arg, vars)
		}
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			r.walkExpr(item, vars)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			r.walkExpr(entry.AsMapEntry().Key(), vars)
			r.walkExpr(entry.AsMapEntry().Value(), vars)
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			r.walkExpr(field.AsStructField().Value(), vars)
		}
	case ast.ComprehensionKind:
		r.walkMacro(e.AsComprehension(), vars)
	}
}

// walkMacro walks what exists, all, filter, map and the like are expanded into.
func (r *reader) walkMacro(c ast.ComprehensionExpr, vars scope) {
	r.walkExpr(c.IterRange(), vars)
	r.walkExpr(c.AccuInit(), vars)
	inner := vars.withVariable(c.IterVar(), itemsOf(r.listOf(c.IterRange(), vars))).withVariable(c.AccuVar(), nil)
	r.walkExpr(c.LoopCondition(), inner)
	r.walkExpr(c.LoopStep(), inner)
	r.walkExpr(c.Result(), vars.withVariable(c.AccuVar(), nil))
}

func itemsOf(list Path) Path {
	if list == nil {
		return nil
	}
	return append(slices.Clone(list), Item)
}

// listOf returns the path of a list, also through filter and orValue; nil if it is not
// known.
func (r *reader) listOf(e ast.Expr, vars scope) Path {
	if path := r.pathOf(e, vars); path != nil {
		return path
	}
	switch {
	case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "orValue":
		return r.listOf(e.AsCall().Target(), vars)
	case e.Kind() == ast.ComprehensionKind && r.macroOf(e) == "filter":
		return r.listOf(e.AsComprehension().IterRange(), vars)
	}
	return nil
}

// macroOf returns the name of the macro that an expression was expanded from, or "".
func (r *reader) macroOf(e ast.Expr) string {
	if call, found := r.ast.SourceInfo().GetMacroCall(e.ID()); found && call.Kind() == ast.CallKind {
		return call.AsCall().FunctionName()
	}
	return ""
}

// pathOf returns the path of an expression that is a field of the object; nil if it is
// none.
func (r *reader) pathOf(e ast.Expr, vars scope) Path {
	switch e.Kind() {
	case ast.IdentKind:
		path, bound := vars[e.AsIdent()]
		if !bound && r.isVariable(e.AsIdent()) {
			path = Path{e.AsIdent()}
		}
		return path
	case ast.SelectKind:
		return r.pathBelow(e.AsSelect().Operand(), vars, e.AsSelect().FieldName())
	case ast.CallKind:
		call := e.AsCall()
		if !slices.Contains(indexing, call.FunctionName()) || call.Args()[1].Kind() != ast.LiteralKind {
			return nil
		}
		switch key := call.Args()[1].AsLiteral().(type) {
		case types.String:
			return r.pathBelow(call.Args()[0], vars, string(key))
		case types.Int:
			return r.pathBelow(call.Args()[0], vars, Item)
		}
	}
	return nil
}

// indexing are the operators in a[b], a[?b] and a.?b.
var indexing = []string{operators.Index, operators.OptIndex, operators.OptSelect}

// pathBelow returns the path of a field of an operand, or nil if the operand has none.
func (r *reader) pathBelow(operand ast.Expr, vars scope, name string) Path {
	above := r.pathOf(operand, vars)
	if above == nil {
		return nil
	}
	return append(slices.Clone(above), name)
}

// isVariable reports whether a name is not that of a type.
func (r *reader) isVariable(name string) bool {
	_, isType := r.env.CELTypeProvider().FindIdent(name)
	return !isType && name != "google"
}

// isNamespace reports whether an expression and the name of a function are together
// the name of a function, such as optional.of.
func (r *reader) isNamespace(target ast.Expr, function string) bool {
	return target.Kind() == ast.IdentKind && r.env.HasFunction(target.AsIdent()+"."+function)
}

// recordRead records that an expression reads a path.
func (r *reader) recordRead(e ast.Expr, path Path) {
	if e.Kind() == ast.IdentKind && len(path) > 1 {
		return // the variable of a macro: what it iterates over is recorded
	}
	r.from = append(r.from, Read{Offset: r.nameOffset(e), Path: path})
	switch name := path[0]; {
	case name == "self" || name == "object":
		r.wrong = &expressionError{offset: r.nameOffset(rootOf(e)), text: "there is no " + name +
			": the top-level fields of the object are variables, such as status.phase"}
	case !slices.Contains(objectFields, name):
		r.others[name] = true
	}
}

// nameOffset returns where the last name of a path stands, in runes.
func (r *reader) nameOffset(e ast.Expr) int {
	switch {
	case e.Kind() == ast.CallKind:
		return r.offsetOf(e.AsCall().Args()[1])
	case e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly():
		if has, found := r.ast.SourceInfo().GetMacroCall(e.ID()); found {
			e = has.AsCall().Args()[0]
		}
		fallthrough
	case e.Kind() == ast.SelectKind:
		return r.offsetOf(e) + len(".")
	}
	return r.offsetOf(e)
}

// offsetOf returns where an expression begins.
func (r *reader) offsetOf(e ast.Expr) int {
	at, _ := r.ast.SourceInfo().GetOffsetRange(e.ID())
	return int(at.Start)
}

// rootOf returns the variable at the begin of a path.
func rootOf(e ast.Expr) ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return rootOf(e.AsSelect().Operand())
	case ast.CallKind:
		return rootOf(e.AsCall().Args()[0])
	}
	return e
}

// emptyAlls returns where the expression calls all on the result of filter, which is
// true if filter finds nothing; none if it calls exists or size anywhere.
func (r *reader) emptyAlls() []int {
	var found []int
	guarded := false
	for _, node := range ast.MatchDescendants(ast.NavigateAST(r.ast), ast.AllMatcher()) {
		name := r.macroOf(node)
		if node.Kind() == ast.CallKind {
			name = node.AsCall().FunctionName()
		}
		switch name {
		case "exists", "exists_one", "existsOne", "size":
			guarded = true
		case "all":
			if over := node.AsComprehension().IterRange(); r.macroOf(over) == "filter" {
				found = append(found, r.offsetOf(node))
			}
		}
	}
	if guarded {
		return nil
	}
	return found
}
