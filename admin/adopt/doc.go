// Package adopt finds live objects that say what a folder renders under their names,
// and marks them for the operator, which then adopts them. Nothing is deleted or
// recreated, and no field changes but metadata of Jacquard.
//
// Without it, users lose the way in, or back: resources take over objects that are
// equal to what they render.
package adopt
