// Package helmcompat holds no code, only a test: hundreds of template
// fragments written as people write Helm charts are rendered by Helm's own
// engine and by ours, and must make the same objects. Where ours differs on
// purpose, testdata/differences.yaml says why and what comes out instead.
// Whole charts are rendered by Helm, and the kinds that package chart makes of
// them by ours, for the same values (testdata/charts).
//
// It is a module of its own so that nothing of Helm reaches the operator.
package helmcompat
