// Package signature describes the functions that templates may call: of which kinds their
// arguments are, and what is known of their results. Nothing that runs needs it: the
// functions check their arguments themselves.
//
// Without it, users lose findings about calls that fail, before a resource is rendered.
package signature
