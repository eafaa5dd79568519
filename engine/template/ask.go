package template

import (
	"strings"
	"text/template/parse"
)

// An Ask is one question that a folder's templates put to the cluster; it is
// written in literals, so it is known when the folder is loaded.
type Ask struct {
	Place Place
	// Function is hasAPI, child or children.
	Function string
	Args     []string
}

// Asks lists what the templates of the folder ask, in the order of the text.
func (s *Set) Asks() []Ask { return s.asks }

func checkHasAPI(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	c.ask(fn, args, `hasAPI needs its apiVersion and kind as literal texts: hasAPI "route.openshift.io/v1" "Route"`)
}

func checkChild(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	if !c.ask(fn, args, fn.Ident+` needs the name of a file as a literal text: `+fn.Ident+` "deployment"`) {
		return
	}
	name := args[0].(*parse.StringNode).Text
	if stem, ok := strings.CutSuffix(name, ".yaml"); ok && c.set.files[stem] != nil {
		c.fail(fn, "%s takes the name of the file without .yaml: %s %q", fn.Ident, fn.Ident, stem)
		return
	}
	if c.set.lost["file "+name] {
		return
	}
	if r := c.set.files[name]; r == nil || !isChildFile(name) {
		c.fail(fn, "the folder has no file %s.yaml%s", name, didYouMean(nearest(name, sortedKeys(c.set.files))))
	}
}

// ask records a question if all its arguments are literal.
func (c *compiler) ask(fn *parse.IdentifierNode, args []parse.Node, otherwise string) bool {
	texts := make([]string, len(args))
	for i, a := range args {
		s, ok := a.(*parse.StringNode)
		if !ok {
			c.fail(fn, "%s", otherwise)
			return false
		}
		texts[i] = s.Text
	}
	if len(texts) != specials[fn.Ident].min {
		c.fail(fn, "%s", otherwise)
		return false
	}
	c.set.asks = append(c.set.asks, Ask{Place: c.at(fn).place(), Function: fn.Ident, Args: texts})
	return true
}
