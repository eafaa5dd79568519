// Package template renders Go templates that print YAML the way a database
// runs prepared statements: what the author wrote is the statement, what the
// custom resource says is only ever a value.
//
// A template is parsed by text/template/parse and compiled to a small tree
// that this package interprets. Executing it gives a skeleton, the author's
// own text with a hole (a private-use character) wherever a value is printed,
// and the list of values. The skeleton is parsed as YAML with the holes in it
// (and kept, since it depends on the branches taken and not on the values);
// afterwards the values are put into the parsed tree. No value is ever parsed,
// so no value can change the structure of a document.
//
// The way through the package: Compile (compile.go) makes a Set; Set.Execute
// (exec.go, print.go) makes skeletons; shape.go parses them; fill.go puts the
// values in and gives Documents. What templates read of the cluster, the
// installation and each other is in reading.go and rendering.go, checked when
// they are compiled by ask.go; seal.go keeps what was read from a Secret in
// Secrets.
//
// Without it, users lose the promise that no value changes the structure of a document,
// and line and column in errors.
package template
