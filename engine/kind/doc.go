// Package kind understands a folder: it compiles the templates, reads the
// settings, and finds out which kinds of children the folder can create. What
// the operator refuses of a folder is found here, with its place. Compile checks the
// paths that templates read of the resource as far as it knows where they start
// (fields.go, fieldvalue.go), and which branches some resource takes (assume.go);
// tools give CompileWith a check that follows values.
//
// Without it, users lose one error message for everything that is wrong with a folder,
// the same in `lint` and in the operator.
package kind
