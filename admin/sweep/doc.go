// Package sweep finds children whose resource is gone, and deletes those that a
// person names: nobody else does, since nobody knows whether they are meant to
// stay.
//
// Without it, users lose a safe way to delete children whose resource is gone.
package sweep
