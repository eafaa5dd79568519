package main

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// wordsAnalyzer finds unexported functions and methods that are named by one word.
var wordsAnalyzer = &analysis.Analyzer{
	Name: "words",
	Doc:  "find unexported functions and methods that are named by one word outside a short list",
	Run:  checkWords,
}

var (
	// allowedWords may name functions and methods alone. The compiler calls main and init. The
	// others are what Go and controller-runtime call the same: run is the body of a command, parse
	// and render have their noun in their argument or in the name of their package.
	allowedWords = []string{"main", "init", "run", "parse", "render"}
	// allowedMethods may name methods alone, since the receiver is their noun. They are those of
	// collections and caches, of expressions that are evaluated, and of the interfaces of sort,
	// container/heap, io, fmt, iter and sync.
	allowedMethods = []string{
		"get", "set", "add", "delete", "list", "len", "less", "swap", "push", "pop", "clone", "equal",
		"read", "write", "flush", "reset", "close", "string", "error", "next", "has", "eval",
		"start", "stop", "wait", "lock", "unlock",
	}
)

// oneWord matches a name without a second word in camel case.
var oneWord = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

func checkWords(pass *analysis.Pass) (any, error) {
	for _, file := range sourceFiles(pass) {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && oneWord.MatchString(f.Name.Name) && !mayBeOneWord(f) {
				pass.Reportf(f.Name.Pos(), "%s is named by one word; name it by a verb and a noun, as in releaseClaims", funcName(f))
			}
		}
	}
	return nil, nil
}

// mayBeOneWord reports whether a function has a name that needs no second word.
func mayBeOneWord(f *ast.FuncDecl) bool {
	return slices.Contains(allowedWords, f.Name.Name) || f.Recv != nil && slices.Contains(allowedMethods, f.Name.Name)
}

// funcName returns the name of a function, or Type.name for a method.
func funcName(f *ast.FuncDecl) string {
	if receiver := receiverType(f); receiver != "" {
		return receiver + "." + f.Name.Name
	}
	return f.Name.Name
}

// receiverType returns the name of the type that has a method, or "" for a function.
func receiverType(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	expr := f.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// writtenFiles returns the files of a package that people write.
func writtenFiles(pass *analysis.Pass) []*ast.File {
	return slices.DeleteFunc(slices.Clone(pass.Files), ast.IsGenerated)
}

// sourceFiles returns the files of a package that people write and that are no tests.
func sourceFiles(pass *analysis.Pass) []*ast.File {
	return slices.DeleteFunc(writtenFiles(pass), func(f *ast.File) bool {
		return strings.HasSuffix(pass.Fset.File(f.FileStart).Name(), "_test.go")
	})
}
