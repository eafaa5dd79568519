// Package sweep finds children whose resource is gone, and deletes those that a
// person names: nobody else does, since nobody knows whether they are meant to
// stay.
package sweep
