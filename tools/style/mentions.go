package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
)

// newMentionsAnalyzer returns an analyzer that finds comments that name what does not exist. Names
// for which isKnown returns true exist outside the package and its imports.
func newMentionsAnalyzer(isKnown func(name string) bool) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "mentions",
		Doc:  "find comments that name, in [brackets], as pkg.Name or in lowerCamelCase, what does not exist",
		Run: func(pass *analysis.Pass) (any, error) {
			checkMentions(pass, isKnown)
			return nil, nil
		},
	}
}

var (
	// bracketed matches [Name], [Type.Method] and [path/pkg.Name], where Go links them.
	bracketed = regexp.MustCompile(`(?:^|[\s("'])\[\*?((?:[\w.-]+/)*[A-Za-z_]\w*(?:\.\w+)*)\](?:$|[\s)"'.,:;?!])`)
	// mention matches a word, or several joined by dots.
	mention = regexp.MustCompile(`[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`)
	// camelCase matches one word in lowerCamelCase.
	camelCase = regexp.MustCompile(`^[a-z]+[a-z0-9]*[A-Z]\w*$`)
	// qualified matches pkg.Name, also with a method or a field.
	qualified = regexp.MustCompile(`^[a-z]\w*\.[A-Z]`)
)

func checkMentions(pass *analysis.Pass, isKnown func(string) bool) {
	names := sync.OnceValue(func() *knownNames { return collectNames(pass) })
	exists := func(name string) bool { return names().hasName(name) || isKnown(name) }
	for _, file := range writtenFiles(pass) {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				reported := map[string]bool{}
				for _, m := range mentionsOf(comment.Text) {
					if reported[m.name] || exists(m.name) || exists(strings.TrimSuffix(m.name, "s")) {
						continue
					}
					reported[m.name] = true
					pass.Reportf(comment.Pos()+token.Pos(m.offset), "%s is named in a comment, but neither this package nor an import has it; name what exists", m.name)
				}
			}
		}
	}
}

// A mentioned is a name in a comment.
type mentioned struct {
	name   string
	offset int
}

// mentionsOf returns the names in one comment, without those in directives and in blocks of code.
func mentionsOf(comment string) []mentioned {
	var found []mentioned
	offset := 0
	for line := range strings.Lines(comment) {
		if !isCodeOrDirective(line) {
			for _, m := range bracketed.FindAllStringSubmatchIndex(line, -1) {
				name := line[m[2]:m[3]]
				found = append(found, mentioned{name[strings.LastIndex(name, "/")+1:], offset + m[2]})
			}
			for _, m := range mention.FindAllStringIndex(line, -1) {
				name := line[m[0]:m[1]]
				if !qualified.MatchString(name) {
					name, _, _ = strings.Cut(name, ".")
				}
				if !isPartOfPath(line, m[0], m[1]) && (camelCase.MatchString(name) || qualified.MatchString(name)) {
					found = append(found, mentioned{name, offset + m[0]})
				}
			}
		}
		offset += len(line)
	}
	return found
}

// isCodeOrDirective reports whether a line of a comment is indented, or is for a machine.
func isCodeOrDirective(line string) bool {
	text, isLine := strings.CutPrefix(line, "//")
	return isLine && (strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "   ") || text != "" && text[0] != ' ' && text[0] != '\n')
}

// isPartOfPath reports whether a name belongs to a path, an annotation, a flag or a placeholder.
func isPartOfPath(line string, start, end int) bool {
	return start > 0 && strings.ContainsRune(`/-.$@%\`, rune(line[start-1])) ||
		end < len(line) && strings.ContainsRune("/-", rune(line[end]))
}

// knownNames are the names that comments of a package may use.
type knownNames struct {
	// words are identifiers of the package and of its imports, and words in its texts.
	words map[string]bool
	// packages are the imports by the names that the package gives them.
	packages map[string]*types.Package
}

// hasName reports whether every part of a name exists.
func (k *knownNames) hasName(name string) bool {
	parts := strings.Split(name, ".")
	if p := k.packages[parts[0]]; p != nil && len(parts) > 1 {
		return p.Scope().Lookup(parts[1]) != nil
	}
	for _, part := range parts {
		if !k.words[part] {
			return false
		}
	}
	return true
}

// textWord matches a name in a text, such as a key of YAML.
var textWord = regexp.MustCompile(`[A-Za-z_]\w*`)

// collectNames collects what the comments of a package may name.
func collectNames(pass *analysis.Pass) *knownNames {
	k := &knownNames{words: map[string]bool{}, packages: map[string]*types.Package{}}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				k.words[n.Name] = true
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					for _, word := range textWord.FindAllString(text, -1) {
						k.words[word] = true
					}
				}
			}
			return true
		})
		for _, spec := range file.Imports {
			if name := pass.TypesInfo.PkgNameOf(spec); name != nil {
				k.packages[name.Name()] = name.Imported()
				k.packages[name.Imported().Name()] = name.Imported()
			}
		}
	}
	for p := range maps.Values(k.packages) {
		k.addPackage(p)
	}
	return k
}

// addPackage adds the exported names of an import, and the fields and methods of its types.
func (k *knownNames) addPackage(p *types.Package) {
	k.words[p.Name()] = true
	for _, name := range p.Scope().Names() {
		k.words[name] = true
		t, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if named, ok := t.Type().(*types.Named); ok {
			for m := range named.Methods() {
				k.words[m.Name()] = true
			}
		}
		switch of := t.Type().Underlying().(type) {
		case *types.Struct:
			for i := range of.NumFields() {
				k.words[of.Field(i).Name()] = true
				key, _, _ := strings.Cut(reflect.StructTag(of.Tag(i)).Get("json"), ",")
				k.words[key] = true
			}
		case *types.Interface:
			for m := range of.Methods() {
				k.words[m.Name()] = true
			}
		}
	}
}
