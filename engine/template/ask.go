package template

import (
	"strconv"
	"strings"
	"text/template/parse"
	"unicode/utf8"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// An Ask is one question that a folder's templates put to the cluster, to the
// installation or to each other. What decides which objects it is about is
// literal, so it is known when the folder is loaded.
type Ask struct {
	Place Place
	// Function is hasAPI, lookup, select, child, children, await, rendered,
	// config, file or stable.
	Function string
	// Args are the literal arguments: apiVersion and kind; a file of the
	// folder (of stable with key and length); a key; a name.
	Args []string
	// Object is what hasAPI, lookup and select are about. Its Namespace and
	// Name are known as far as they are literal.
	Object Object
	// AnyNamespace and AnyName: lookup or select take the namespace or the
	// name from a value, or (select) any name.
	AnyNamespace, AnyName bool
}

// Asks lists what the files of the folder ask, themselves and by the defines
// that they call, in the order of the text.
func (s *Set) Asks() []Ask { return s.asks }

// reads are the functions whose result is one thing read, as it stands.
var reads = map[string]bool{
	"lookup": true, "select": true, "child": true, "children": true, "await": true,
	"rendered": true, "config": true, "file": true, "stable": true,
}

// literalTexts returns the first n arguments if they are literal texts.
func (c *compiler) literalTexts(fn *parse.IdentifierNode, args []parse.Node, n int, otherwise string) ([]string, bool) {
	if len(args) < n {
		c.addError(fn, "%s", otherwise)
		return nil, false
	}
	texts := make([]string, n)
	for i, a := range args[:n] {
		s, ok := a.(*parse.StringNode)
		if !ok {
			c.addError(fn, "%s", otherwise)
			return nil, false
		}
		texts[i] = s.Text
	}
	return texts, true
}

// addAsk records a question at the place of its function.
func (c *compiler) addAsk(fn *parse.IdentifierNode, a Ask) {
	a.Place, a.Function = c.posOf(fn).toPlace(), fn.Ident
	c.into.asks = append(c.into.asks, a)
}

func checkHasAPI(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	texts, ok := c.literalTexts(fn, args, 2, `hasAPI needs its apiVersion and kind as literal texts: hasAPI "route.openshift.io/v1" "Route"`)
	if ok {
		c.addAsk(fn, Ask{Args: texts, Object: Object{APIVersion: texts[0], Kind: texts[1]}})
	}
}

func checkLookup(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	a, ok := c.objectOf(fn, args, `lookup needs its apiVersion and kind as literal texts: lookup "v1" "ConfigMap" "" .spec.ref`)
	if !ok {
		return
	}
	a.Object.Namespace, a.AnyNamespace = literalText(args, 2)
	a.Object.Name, a.AnyName = literalText(args, 3)
	if a.Object.Name == "" && !a.AnyName {
		c.addError(fn, "lookup needs a name: to read several objects, use select")
		return
	}
	c.addAsk(fn, a)
}

func checkSelect(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	a, ok := c.objectOf(fn, args,
		`select needs its apiVersion and kind as literal texts: select "v1" "Pod" (dict "matchLabels" (dict "tier" "web"))`)
	if !ok {
		return
	}
	a.AnyName = true
	if len(args) > 3 {
		a.Object.Namespace, a.AnyNamespace = literalText(args, 3)
	}
	c.addAsk(fn, a)
}

// objectOf returns the apiVersion and kind that a read is about.
func (c *compiler) objectOf(fn *parse.IdentifierNode, args []parse.Node, otherwise string) (Ask, bool) {
	texts, ok := c.literalTexts(fn, args, 2, otherwise)
	if !ok {
		return Ask{}, false
	}
	gv, err := apischema.ParseGroupVersion(texts[0])
	if err != nil || gv.Version == "" || texts[1] == "" {
		c.addError(fn, "%s", otherwise)
		return Ask{}, false
	}
	if wrong := schema.Misplaced(gv.WithKind(texts[1])); wrong != "" {
		c.addError(fn, "%s", wrong)
		return Ask{}, false
	}
	return Ask{Args: texts, Object: Object{APIVersion: texts[0], Kind: texts[1]}}, true
}

// literalText is the i-th argument if it is a literal text; else it is
// computed.
func literalText(args []parse.Node, i int) (text string, computed bool) {
	if i < len(args) {
		if s, ok := args[i].(*parse.StringNode); ok {
			return s.Text, false
		}
	}
	return "", true
}

func checkChild(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	texts, ok := c.literalTexts(fn, args, 1, fn.Ident+` needs the name of a file as a literal text: `+fn.Ident+` "deployment"`)
	if ok && c.childFile(fn, texts[0]) {
		c.addAsk(fn, Ask{Args: texts})
	}
}

func checkRendered(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	checkChild(c, fn, args)
	if name, computed := literalText(args, 0); !computed {
		c.into.needs = append(c.into.needs, need{name, c.posOf(fn)})
	}
}

// childFile reports whether the folder has a file of children of that name.
func (c *compiler) childFile(fn *parse.IdentifierNode, name string) bool {
	if stem, ok := strings.CutSuffix(name, ".yaml"); ok && c.set.files[stem] != nil {
		c.addError(fn, "%s takes the name of the file without .yaml: %s %q", fn.Ident, fn.Ident, stem)
		return false
	}
	r := c.set.files[name]
	if !c.set.lost["file "+name] && (r == nil || !isChildFile(name)) {
		c.addError(fn, "the folder has no file %s.yaml%s", name, didYouMean(suggestName(name, sortedKeys(c.set.files))))
		return false
	}
	return r != nil
}

func checkConfig(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	texts, ok := c.literalTexts(fn, args, 1, `config needs its key as a literal text: config "registry"`)
	if !ok {
		return
	}
	if _, known := c.set.config[texts[0]]; !known {
		c.addError(fn, "config.yaml has no key %q%s", texts[0], didYouMean(suggestName(texts[0], sortedKeys(c.set.config))))
		return
	}
	c.addAsk(fn, Ask{Args: texts})
}

func checkFile(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	texts, ok := c.literalTexts(fn, args, 1, `file needs its name as a literal text: file "init.sql"`)
	if !ok {
		return
	}
	text, known := c.set.texts[texts[0]]
	switch {
	case !known:
		c.addError(fn, "files/ holds no %s%s", texts[0], didYouMean(suggestName(texts[0], sortedKeys(c.set.texts))))
	case !utf8.ValidString(text):
		c.addError(fn, "files/%s is no text (UTF-8)", texts[0])
	default:
		c.addAsk(fn, Ask{Args: texts})
	}
}

// longestStable is the longest text that may be drawn.
const longestStable = 256

func checkStable(c *compiler, fn *parse.IdentifierNode, args []parse.Node) {
	const usage = `stable needs a file, a key and a length, all literal: stable "secret" "password" 24`
	texts, ok := c.literalTexts(fn, args, 2, usage)
	if !ok {
		return
	}
	if len(args) < 3 {
		c.addError(fn, usage)
		return
	}
	n, ok := args[2].(*parse.NumberNode)
	switch {
	case !ok || !n.IsInt:
		c.addError(fn, usage)
	case n.Int64 < 1 || n.Int64 > longestStable:
		c.addError(fn, "the length of stable must be from 1 to %d", longestStable)
	case len(validation.IsConfigMapKey(texts[1])) > 0:
		c.addError(fn, "a Secret can have no key %q: only letters, digits, -, _ and .", texts[1])
	case c.childFile(fn, texts[0]):
		c.addAsk(fn, Ask{Args: append(texts, strconv.FormatInt(n.Int64, 10))})
	}
}
