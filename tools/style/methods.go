package main

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/analysis"
)

// mostMethods is how many methods a type may have: with more it has more than one responsibility.
const mostMethods = 20

// methodsAnalyzer finds types with too many methods.
var methodsAnalyzer = &analysis.Analyzer{
	Name: "methods",
	Doc:  "find types with more than 20 methods",
	Run:  checkMethods,
}

func checkMethods(pass *analysis.Pass) (any, error) {
	methods := map[string]int{}
	files := sourceFiles(pass)
	for _, file := range files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				methods[receiverType(f)]++
			}
		}
	}
	for _, file := range files {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				s := spec.(*ast.TypeSpec)
				if n := methods[s.Name.Name]; n > mostMethods {
					pass.Reportf(s.Name.Pos(), "%s has %d methods, and at most %d are allowed; divide its responsibilities among several types",
						s.Name.Name, n, mostMethods)
				}
			}
		}
	}
	return nil, nil
}
