// Package kind understands a folder: it compiles the templates, reads the
// settings, and finds out which kinds of children the folder can create. All
// that can be wrong with a folder by itself is found here, with its place.
//
// Without it, users lose one error message for everything that is wrong with a folder,
// the same in `lint` and in the operator.
package kind
