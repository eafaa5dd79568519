// Package schema understands CustomResourceDefinitions that an API server has
// accepted. It says which fields of an object the API server drops, and gives the
// types that a template sees, so that a misspelt path is found when a folder is loaded.
//
// The package is pure: values in, values out, no cluster. The rules are those of
// k8s.io/apiextensions-apiserver, the very code that an API server runs.
//
// Objects are JSON values as the Kubernetes decoders make them: map[string]any,
// []any, string, int64, float64, bool and nil.
//
// Without it, users lose the error at a misspelt path before anything is rendered.
package schema
