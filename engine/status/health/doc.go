// Package health evaluates health expressions: CEL that decides whether an object
// of a kind is ready, in the format of Flux's healthCheckExprs. It has three lists of
// them: that of a folder, that of its root, and the built-in one of builtin.yaml.
//
// All functions are pure. An expression is compiled once and costs at most
// costLimit, whatever the object contains.
//
// Without it, users lose Ready that is right for kinds that the engine does not know,
// and a way to correct it.
package health
