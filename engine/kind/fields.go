package kind

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

const (
	// mostFieldSteps bounds how many nodes of templates one check of fields visits.
	mostFieldSteps = 200_000
	// mostNested bounds how often a define is walked inside itself.
	mostNested = 3
)

// A fieldCheck finds the fields of the resource that templates read and its schema does
// not declare, wherever the start of the path is known without following values. In
// doubt it accepts: what it does not find, the type checker of `jacquard lint` may find.
type fieldCheck struct {
	fieldContext
	set     *template.Set
	defines map[string]*parse.Tree
	// resource is how messages call the resource, such as "Page v1".
	resource string
	// isCertain reports that some resource takes the sides of the branches around the
	// place of the walk; isLost that no resource may come to the rest of the file.
	isCertain bool
	isLost    bool
	// undeclared are the errors by place. A path that is declared for another call from
	// the same place is readable, and no error: a partial may be given one thing or another.
	undeclared map[fieldSite]error
	readable   map[fieldSite]bool
	steps      int
}

// A fieldContext is what is known where the walk is.
type fieldContext struct {
	config map[string]any
	// frame is the template that is being walked.
	frame       *fieldFrame
	assumptions assumptions
}

// A fieldSite is where a path stands, and where its define is called from.
type fieldSite struct{ place, caller template.Place }

// A fieldFrame is a file or a define that is being walked.
type fieldFrame struct {
	tree   *parse.Tree
	dot    fieldValue
	vars   []fieldVariable
	caller template.Place
	// reassigned are the variables that are assigned more than once.
	reassigned map[string]bool
	outer      *fieldFrame
}

// A fieldVariable is a variable in scope.
type fieldVariable struct {
	name  string
	value fieldValue
}

// An ending is how the walk of a list of statements ends.
type ending int

const (
	goesOn     ending = iota
	leavesLoop        // by break or continue
	stopsFile         // by fail or wait
)

// checkFields returns an error for each field of the resource that a template reads and
// the schema does not declare.
func (k *Kind) checkFields() error {
	c := &fieldCheck{
		fieldContext: fieldContext{config: k.Config}, set: k.Templates, defines: k.Templates.Defines(),
		resource:   k.GVK.Kind + " " + k.GVK.Version,
		undeclared: map[fieldSite]error{}, readable: map[fieldSite]bool{},
	}
	resource := fieldValue{isKnown: true, typ: schema.Root(k.Version)}
	files := k.Files
	if k.HasStatus {
		files = append(slices.Clip(files), statusFile)
	}
	for _, name := range files {
		if tree := k.Templates.Tree(name); tree != nil {
			c.isCertain, c.isLost, c.assumptions = true, false, nil
			c.walkTemplate(tree, resource, template.Place{})
		}
	}
	if c.steps > mostFieldSteps {
		return nil // the walk is not complete, and so it cannot tell what is readable
	}
	maps.DeleteFunc(c.undeclared, func(at fieldSite, _ error) bool { return c.readable[at] })
	sites := slices.SortedFunc(maps.Keys(c.undeclared), func(a, b fieldSite) int {
		return cmp.Or(comparePlaces(a.place, b.place), comparePlaces(a.caller, b.caller))
	})
	var errs []error
	for _, at := range sites {
		errs = append(errs, c.undeclared[at])
	}
	return errors.Join(errs...)
}

// walkTemplate walks a file or a define.
func (c *fieldCheck) walkTemplate(tree *parse.Tree, dot fieldValue, caller template.Place) ending {
	c.frame = &fieldFrame{
		tree: tree, dot: dot, caller: caller, outer: c.frame,
		vars: []fieldVariable{{"$", dot}}, reassigned: reassignedIn(tree.Root),
	}
	defer func() { c.frame = c.frame.outer }()
	return c.walkList(tree.Root)
}

// callDefine walks a define that is given dot.
func (c *fieldCheck) callDefine(at parse.Node, name string, dot fieldValue) ending {
	tree := c.defines[name]
	nested := 0
	for f := c.frame; f != nil; f = f.outer {
		if f.tree == tree {
			nested++
		}
	}
	if tree == nil || nested >= mostNested {
		return goesOn
	}
	if c.walkTemplate(tree, dot, c.placeOf(at)) == stopsFile {
		return stopsFile
	}
	return goesOn
}

// walkList walks statements up to the first that does not go on.
func (c *fieldCheck) walkList(list *parse.ListNode) ending {
	if list == nil {
		return goesOn
	}
	depth := len(c.frame.vars)
	defer func() { c.frame.vars = c.frame.vars[:depth] }()
	for _, node := range list.Nodes {
		if c.steps++; c.steps > mostFieldSteps {
			return stopsFile
		}
		if end := c.walkNode(node); end != goesOn {
			return end
		}
	}
	return goesOn
}

func (c *fieldCheck) walkNode(node parse.Node) ending {
	switch n := node.(type) {
	case *parse.ActionNode:
		value, end := c.walkPipe(n.Pipe)
		c.declarePipe(n.Pipe, value)
		return end
	case *parse.TemplateNode:
		dot, end := c.walkPipe(n.Pipe)
		if end != goesOn {
			return end
		}
		return c.callDefine(n, n.Name, dot)
	case *parse.IfNode:
		return c.walkBranch(&n.BranchNode)
	case *parse.WithNode:
		return c.walkBranch(&n.BranchNode)
	case *parse.RangeNode:
		return c.walkBranch(&n.BranchNode)
	case *parse.BreakNode, *parse.ContinueNode:
		return leavesLoop
	}
	return goesOn
}

// walkBranch walks both sides of an if, a with or a range.
func (c *fieldCheck) walkBranch(n *parse.BranchNode) ending {
	depth := len(c.frame.vars)
	defer func() { c.frame.vars = c.frame.vars[:depth] }()
	value, end := c.walkPipe(n.Pipe)
	isRange := n.NodeType == parse.NodeRange
	if end != goesOn || isRange && value.hasNoItems() {
		return end
	}
	holds, fails := c.sidesOf(n.Pipe)
	ifHolds, ifFails := c.assumptionsOf(n.Pipe, true), c.assumptionsOf(n.Pipe, false)
	dot := c.frame.dot
	switch n.NodeType {
	case parse.NodeRange:
		dot = value.anyItem()
		c.declareItem(n.Pipe, value, dot)
	case parse.NodeWith:
		dot = value
		fallthrough
	default:
		c.declarePipe(n.Pipe, value)
	}
	then := c.walkSide(n.List, dot, holds, ifHolds)
	if isRange && then == leavesLoop {
		then = goesOn
	}
	otherwise := c.walkSide(n.ElseList, c.frame.dot, fails, ifFails)
	switch {
	case then != goesOn && otherwise != goesOn:
		return min(then, otherwise)
	case otherwise != goesOn: // what the other side assumes holds from here on
		c.isLost = c.isLost || holds == neverTaken
		c.assumptions = append(c.assumptions, ifHolds.asKept()...)
	case then != goesOn:
		c.isLost = c.isLost || fails == neverTaken
		c.assumptions = append(c.assumptions, ifFails.asKept()...)
	}
	return goesOn
}

// walkSide walks one side of a branch.
func (c *fieldCheck) walkSide(list *parse.ListNode, dot fieldValue, is chance, assumed assumptions) ending {
	isCertain, known, outer := c.isCertain, len(c.assumptions), c.frame.dot
	c.isCertain, c.frame.dot = isCertain && is == surelyTaken, dot
	c.assumptions = append(c.assumptions, assumed...)
	end := c.walkList(list)
	c.isCertain, c.frame.dot = isCertain, outer
	c.assumptions.leaveSide(known)
	return end
}

// declarePipe gives the variable of a pipeline its value, if it declares one.
func (c *fieldCheck) declarePipe(pipe *parse.PipeNode, value fieldValue) {
	if len(pipe.Decl) > 0 && !pipe.IsAssign {
		c.declareVariable(pipe.Decl[0], value)
	}
}

func (c *fieldCheck) declareVariable(n *parse.VariableNode, value fieldValue) {
	c.frame.vars = append(c.frame.vars, fieldVariable{n.Ident[0], value})
}

// declareItem declares the variables of a range: the item, or the key and the item.
func (c *fieldCheck) declareItem(pipe *parse.PipeNode, over, item fieldValue) {
	if pipe.IsAssign || len(pipe.Decl) == 0 {
		return
	}
	if len(pipe.Decl) == 2 {
		c.declareVariable(pipe.Decl[0], fieldValue{from: itemsOf(over.madeOf())})
	}
	c.declareVariable(pipe.Decl[len(pipe.Decl)-1], item)
}

// walkPipe walks a pipeline, and returns its value.
func (c *fieldCheck) walkPipe(pipe *parse.PipeNode) (fieldValue, ending) {
	if pipe == nil {
		return fieldValue{}, goesOn
	}
	end := c.walkOperand(pipe)
	if mayStop(pipe) { // it goes on only with some values, of which nothing more is known
		c.assumptions = append(c.assumptions, assumeAll(c.pathsIn(pipe), false).asKept()...)
	}
	return c.valueOf(pipe), end
}

// walkOperand walks an expression.
func (c *fieldCheck) walkOperand(node parse.Node) ending {
	if c.steps++; c.steps > mostFieldSteps {
		return stopsFile
	}
	fn, args := callIn(node)
	switch {
	case fn == nil:
		return c.walkPath(withoutPipe(node))
	case fn.Ident == "and" || fn.Ident == "or":
		return c.walkLogic(fn.Ident == "and", args)
	}
	for _, arg := range args {
		if end := c.walkOperand(arg); end != goesOn {
			return end
		}
	}
	switch name := literalAt(args, 0); {
	case fn.Ident == "fail" || fn.Ident == "wait":
		return stopsFile
	case fn.Ident == "include" && name != nil && len(args) == 2:
		return c.callDefine(fn, name.Text, c.valueOf(args[1]))
	}
	return goesOn
}

// walkLogic walks the arguments of and or or. Each is evaluated only if those before it
// do not decide.
func (c *fieldCheck) walkLogic(isAnd bool, args []parse.Node) ending {
	isCertain, known := c.isCertain, len(c.assumptions)
	defer func() {
		c.isCertain = isCertain
		c.assumptions.leaveSide(known)
	}()
	for i, arg := range args {
		switch end := c.walkOperand(arg); {
		case end != goesOn && i == 0:
			return end
		case end != goesOn:
			return goesOn
		}
		goes, stops := c.sidesOf(arg)
		if !isAnd {
			goes = stops
		}
		c.isCertain = c.isCertain && goes == surelyTaken
		c.assumptions = append(c.assumptions, c.assumptionsOf(arg, isAnd)...)
	}
	return goesOn
}

// walkPath follows the fields of an operand that calls no function.
func (c *fieldCheck) walkPath(node parse.Node) ending {
	if chain, isChain := node.(*parse.ChainNode); isChain {
		if end := c.walkOperand(chain.Node); end != goesOn {
			return end
		}
	}
	value, fields := c.startOf(node)
	for _, name := range fields {
		next, isDeclared := value.findField(name)
		if !isDeclared {
			if c.isCertain && !c.isLost && !c.mayLack(value) {
				c.reportUndeclared(node, value, name)
			}
			return goesOn
		}
		value = next
	}
	c.readable[c.siteOf(node)] = true
	return goesOn
}

// reportUndeclared notes that the schema declares no field of that name.
func (c *fieldCheck) reportUndeclared(node parse.Node, value fieldValue, name string) {
	text := fmt.Sprintf("%s has no field %s", c.resource, value.pathBelow(name))
	near, root := schema.Suggest(name, value.typ.Fields()), c.findVariable("$")
	switch {
	case value.typ.Kind() != schema.KindObject:
		text = fmt.Sprintf("%s, %s, has no field %s", value.path, withArticle(value.typ.Kind().String()), name)
	case near != "":
		text += "; did you mean " + value.pathBelow(near) + "?"
	case value.path != "" && root.isKnown && root.path == "" && slices.Contains(root.typ.Fields(), name):
		text += "; did you mean $." + name + "?"
	}
	at := c.siteOf(node)
	if at.caller.File != "" {
		text += " (called from " + at.caller.String() + ")"
	}
	c.undeclared[at] = &template.Error{Place: at.place, Err: errors.New(text)}
}

func (c *fieldCheck) siteOf(node parse.Node) fieldSite {
	return fieldSite{c.placeOf(node), c.frame.caller}
}

func (c *fieldCheck) placeOf(node parse.Node) template.Place {
	return c.set.Place(c.frame.tree, node)
}

func comparePlaces(a, b template.Place) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
