package template

import (
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// What templates use of the objects that they read is found out when a folder is compiled, so that
// nobody has to keep the rest of them, or to render because the rest changed. The values of
// expressions are followed through fields, variables, with, range, defines and the functions that
// only choose. Whatever else is done with a value uses all of it. So what is found is never too
// little.

// ReadFields returns the paths of the fields that templates use of objects of a kind that they read by
// lookup or select, as far as they use more than which objects there are. isWhole reports that they
// may use all fields.
func (s *Set) ReadFields(gvk apischema.GroupVersionKind) (paths [][]string, isWhole bool) {
	return s.used.fieldsOf(readSource{gvk: gvk})
}

// ChildFields returns the same of the children of a file, which child, children and await read.
func (s *Set) ChildFields(file string) (paths [][]string, isWhole bool) {
	return s.used.fieldsOf(readSource{file: file})
}

// A readSource is where objects that are read come from: a kind, or a file that made them.
type readSource struct {
	gvk  apischema.GroupVersionKind
	file string
}

// readUses are the paths of the fields that are used, by a text of each; the empty path is all.
type readUses map[readSource]map[string][]string

// fieldsOf returns the paths that are used of what comes from a source.
func (u readUses) fieldsOf(source readSource) (paths [][]string, isWhole bool) {
	for _, path := range u[source] {
		if len(path) == 0 {
			return nil, true
		}
		paths = append(paths, path)
	}
	return paths, false
}

// A readValue is what a value may be: a field of an object that is read, or a list of such objects.
type readValue struct {
	from   readSource
	path   []string
	isList bool
}

// isSame reports whether two values are the same part of what is read.
func (v readValue) isSame(o readValue) bool {
	return v.from == o.from && v.isList == o.isList && slices.Equal(v.path, o.path)
}

const (
	// longestUse bounds the paths that are followed: of a deeper field, one above it is used.
	longestUse = 8
	// mostOfVariable bounds how many values of one variable are followed.
	mostOfVariable = 100
	// mostUsePasses bounds how often a template is walked, since variables that are set in a loop are
	// used before in the text.
	mostUsePasses = 10
)

// A useFinder finds what the routines of a set use of the objects that they read.
type useFinder struct {
	set  *Set
	used readUses
	// vars are what the variables of each routine may be, by slot. The first one is what it is called
	// with.
	vars map[*routine]map[int][]readValue
	// grown: a variable may be more than in the pass before.
	grown bool
	// routine is being walked, and dot is what `.` may be there.
	routine *routine
	dot     []readValue
}

// findUses returns what the routines of a set use.
func (s *Set) findUses() readUses {
	f := &useFinder{set: s, used: readUses{}, vars: map[*routine]map[int][]readValue{}, grown: true}
	for n := 0; f.grown; n++ {
		if n == mostUsePasses {
			f.useAll()
			break
		}
		f.grown = false
		f.eachRoutine(func(r *routine) {
			if len(f.vars[r]) > 0 || slices.ContainsFunc(r.asks, Ask.readsObjects) {
				f.routine, f.dot = r, f.vars[r][0]
				f.walkBlock(r.body)
			}
		})
	}
	return f.used
}

// eachRoutine calls do for each file and each define.
func (f *useFinder) eachRoutine(do func(*routine)) {
	for _, routines := range []map[string]*routine{f.set.files, f.set.defines} {
		for _, name := range sortedKeys(routines) {
			do(routines[name])
		}
	}
}

// useAll notes that all of everything that is read is used.
func (f *useFinder) useAll() {
	f.eachRoutine(func(r *routine) {
		for _, a := range r.asks {
			if a.readsObjects() {
				f.useValues([]readValue{{from: a.readSource()}})
			}
		}
	})
}

// readsObjects reports whether the question is answered by objects of the cluster.
func (a Ask) readsObjects() bool { return objectReads[a.Function] }

// objectReads are the functions that read objects.
var objectReads = map[string]bool{"lookup": true, "select": true, "child": true, "children": true, "await": true}

// readSource returns where the objects come from that a question reads.
func (a Ask) readSource() readSource {
	if a.Object.Kind == "" {
		return readSource{file: a.Args[0]}
	}
	return readSource{gvk: apischema.FromAPIVersionAndKind(a.Object.APIVersion, a.Object.Kind)}
}

func (f *useFinder) walkBlock(b block) {
	for _, s := range b {
		f.walkStmt(s)
	}
}

func (f *useFinder) walkStmt(s stmt) {
	switch s := s.(type) {
	case *printStmt:
		f.useExpr(s.value)
	case *assignStmt:
		f.setVariable(s.slot, f.followExpr(s.value))
	case *callStmt:
		f.addValues(s.call, 0, f.followExpr(s.arg))
	case *ifStmt:
		v := f.followExpr(s.cond)
		f.useTruth(v)
		f.setVariable(s.slot, v)
		if s.with {
			f.walkWith(s.then, v)
		} else {
			f.walkBlock(s.then)
		}
		f.walkBlock(s.orElse)
	case *rangeStmt:
		items := f.itemsOf(f.followExpr(s.over))
		f.setVariable(s.value, items)
		f.walkWith(s.body, items)
		f.walkBlock(s.none)
	}
}

// walkWith walks statements with another dot.
func (f *useFinder) walkWith(b block, dot []readValue) {
	before := f.dot
	f.dot = dot
	f.walkBlock(b)
	f.dot = before
}

// setVariable adds to what a variable may be. One that is set in a loop, or in a branch, may also be
// what it was before.
func (f *useFinder) setVariable(slot int, values []readValue) {
	if slot >= 0 {
		f.addValues(f.routine, slot, values)
	}
}

// addValues adds to what a variable of a routine may be.
func (f *useFinder) addValues(r *routine, slot int, values []readValue) {
	for _, v := range values {
		switch {
		case slices.ContainsFunc(f.vars[r][slot], v.isSame):
		case len(f.vars[r][slot]) == mostOfVariable:
			f.useValues([]readValue{v})
		default:
			if f.vars[r] == nil {
				f.vars[r] = map[int][]readValue{}
			}
			f.vars[r][slot], f.grown = append(f.vars[r][slot], v), true
		}
	}
}

// followExpr returns what an expression may be of what is read, and notes what it uses.
func (f *useFinder) followExpr(e expr) []readValue {
	switch e := e.(type) {
	case dotExpr:
		return f.dot
	case varExpr:
		return f.vars[f.routine][e.slot]
	case *chainExpr:
		return f.fieldsOf(f.followExpr(e.from), e.fields)
	case *logicExpr:
		return f.chooseFrom(e.args)
	case *callExpr:
		return f.followCall(e.fn.Name, e.args)
	case *specialExpr:
		return f.followSpecial(e)
	}
	return nil
}

// followSpecial follows the call of a function of this package.
func (f *useFinder) followSpecial(e *specialExpr) []readValue {
	switch e.name {
	case "lookup", "select":
		f.useExprs(e.args[min(2, len(e.args)):])
		apiVersion, kind := constantText(e.args, 0), constantText(e.args, 1)
		from := readSource{gvk: apischema.FromAPIVersionAndKind(apiVersion, kind)}
		return []readValue{{from: from, isList: e.name == "select"}}
	case "child", "children", "await":
		return []readValue{{from: readSource{file: constantText(e.args, 0)}, isList: e.name == "children"}}
	case "default", "required":
		return f.chooseFrom(e.args)
	case "include":
		if called := f.set.defines[constantText(e.args, 0)]; called != nil && len(e.args) == 2 {
			f.addValues(called, 0, f.followExpr(e.args[1]))
			return nil
		}
	}
	f.useExprs(e.args)
	return nil
}

// followCall follows the call of a pure function.
func (f *useFinder) followCall(name string, args []expr) []readValue {
	switch {
	case len(args) == 0:
		return nil
	case name == "index" || name == "get":
		return f.entriesOf(args[0], args[1:])
	case name == "hasKey" && len(args) == 2:
		f.useValues(f.entriesOf(args[0], args[1:]))
		return nil
	case name == "dig" && len(args) > 2:
		last := len(args) - 1
		found := f.entriesOf(args[last], args[:last-1])
		f.useTruth(found)
		return append(slices.Clip(found), f.followExpr(args[last-1])...)
	case name == "first" || name == "last" || name == "mustFirst" || name == "mustLast":
		return f.itemsOf(f.followExpr(args[0]))
	case name == "len":
		for _, v := range f.followExpr(args[0]) {
			if !v.isList { // the number of its fields
				f.useValues([]readValue{v})
			}
		}
		return nil
	case name == "not" || name == "empty":
		f.useTruth(f.followExpr(args[0]))
		return nil
	case name == "coalesce" || name == "ternary" || name == "ifNil":
		return f.chooseFrom(args)
	}
	f.useExprs(args)
	return nil
}

// chooseFrom follows a call that returns one of its arguments, by which of them are true.
func (f *useFinder) chooseFrom(args []expr) (all []readValue) {
	for _, a := range args {
		v := f.followExpr(a)
		f.useTruth(v)
		all = append(all, v...)
	}
	return all
}

// fieldsOf returns fields of values.
func (f *useFinder) fieldsOf(values []readValue, fields []string) (all []readValue) {
	for _, v := range values {
		if v.isList {
			continue // a list has no fields
		}
		path := slices.Concat(v.path, fields)
		if len(path) > longestUse {
			f.useValues([]readValue{{from: v.from, path: path[:longestUse]}})
			continue
		}
		all = append(all, readValue{from: v.from, path: path})
	}
	return all
}

// entriesOf returns entries of a map or a list by their keys. A key that is computed uses all of them.
func (f *useFinder) entriesOf(of expr, keys []expr) []readValue {
	values := f.followExpr(of)
	for _, key := range keys {
		f.useExpr(key)
		name, isText := literalKey(key)
		var below []readValue
		for _, v := range values {
			switch {
			case v.isList:
				below = append(below, f.itemsOf([]readValue{v})...)
			case isText:
				below = append(below, f.fieldsOf([]readValue{v}, []string{name})...)
			default:
				f.useValues([]readValue{v})
			}
		}
		values = below
	}
	return values
}

// literalKey returns the text of a key that is written in the template.
func literalKey(e expr) (text string, isText bool) {
	if c, is := e.(constant); is {
		text, isText = c.value.(string)
	}
	return text, isText
}

// itemsOf returns the items of lists. Of a list in an object all is used.
func (f *useFinder) itemsOf(values []readValue) (all []readValue) {
	for _, v := range values {
		if v.isList {
			all = append(all, readValue{from: v.from})
		} else {
			f.useValues([]readValue{v})
		}
	}
	return all
}

// useExprs notes that all of some expressions is used.
func (f *useFinder) useExprs(all []expr) {
	for _, e := range all {
		f.useExpr(e)
	}
}

func (f *useFinder) useExpr(e expr) { f.useValues(f.followExpr(e)) }

// useTruth notes that it is used whether values are true. An object always is, and a list of objects
// if there are any.
func (f *useFinder) useTruth(values []readValue) {
	for _, v := range values {
		if len(v.path) > 0 {
			f.useValues([]readValue{v})
		}
	}
}

// useValues notes that all of some values is used.
func (f *useFinder) useValues(values []readValue) {
	for _, v := range values {
		if f.used[v.from] == nil {
			f.used[v.from] = map[string][]string{}
		}
		f.used[v.from][strings.Join(v.path, "\x00")] = v.path
	}
}

// constantText returns an argument that is written as a text in the template, or "".
func constantText(args []expr, i int) string {
	if i >= len(args) {
		return ""
	}
	text, _ := literalKey(args[i])
	return text
}
