package main

import (
	"go/ast"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// docsAnalyzer finds doc comments that do not start with what they document.
var docsAnalyzer = &analysis.Analyzer{
	Name: "docs",
	Doc:  "find doc comments that start neither with a name nor with A, An or The and the name",
	Run:  checkDocs,
}

// docStart matches the start of a doc comment: an article, and a name.
var docStart = regexp.MustCompile(`^(?:(?:A|An|The)\s+)?([\pL_][\pL\pN_]*)`)

func checkDocs(pass *analysis.Pass) (any, error) {
	for _, file := range writtenFiles(pass) {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				checkDoc(pass, d.Doc, funcName(d), d.Name)
			case *ast.GenDecl:
				checkSpecDocs(pass, d)
			}
		}
	}
	return nil, nil
}

// checkSpecDocs checks the comments of types, and of constants and variables outside a group.
// The comments of a group, and between its constants, may start with any words.
func checkSpecDocs(pass *analysis.Pass, d *ast.GenDecl) {
	isGroup := d.Lparen.IsValid()
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if isGroup {
				checkDoc(pass, s.Doc, s.Name.Name, s.Name)
			} else {
				checkDoc(pass, d.Doc, s.Name.Name, s.Name)
			}
		case *ast.ValueSpec:
			if !isGroup {
				checkDoc(pass, d.Doc, s.Names[0].Name, s.Names...)
			}
		}
	}
}

// checkDoc reports a comment that starts with none of these names.
func checkDoc(pass *analysis.Pass, doc *ast.CommentGroup, identifier string, names ...*ast.Ident) {
	text := doc.Text()
	if text == "" {
		return
	}
	start := docStart.FindStringSubmatch(text)
	for _, name := range names {
		if start != nil && start[1] == name.Name || name.Name == "_" {
			return
		}
	}
	words := strings.Fields(text)
	pass.Reportf(doc.Pos(), "%s has a comment that starts with %q; start it with %s, or with A, An or The %[3]s",
		identifier, strings.Join(words[:min(2, len(words))], " "), names[0].Name)
}
