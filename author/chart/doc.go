// Package chart makes a kind of a Helm chart: a CRD whose spec is the chart's
// values, a folder of templates, an example and a golden case. It reads the
// chart out of a file system and returns files; it needs nothing of Helm.
//
// The way through the package: read.go reads the chart; action.go, extent.go
// and source.go know where things stand in a template's text; rewrite.go and
// the files beside it turn what only Helm has into what the engine has, by
// edits at the places of the parse tree, so that the author's text stays as it
// is otherwise; fold.go decides conditions that are known; document.go adapts
// whole documents; use.go finds out which values the result reads; values.go,
// jsonschema.go and crd.go make the schema.
//
// What cannot be carried over never changes its meaning in silence: it becomes
// a Note, and where a template would read it, a call of `fail`.
//
// Without it, users lose a start from a Helm chart; another converter is to replace it.
package chart
