// Package schema understands CustomResourceDefinitions that an API server has
// accepted, and answers what the API
// server would make of a custom resource: which defaults it adds, which fields
// it drops, what it refuses. It also gives the types that a template sees, so
// that a misspelt path is found when a folder is loaded.
//
// The package is pure: values in, values out, no cluster. The rules are those of
// k8s.io/apiextensions-apiserver, the very code that an API server runs.
//
// Objects are JSON values as the Kubernetes decoders make them: map[string]any,
// []any, string, int64, float64, bool and nil.
//
// Without it, users lose defaults as the API server sets them, and errors before the
// API server says them.
package schema
