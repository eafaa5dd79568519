// Package tree tells what became of a custom resource: its conditions, its
// children with the file that made each, what it patches, and below them what
// they own in turn, down to Pods; each with its age, and whether it is ready.
//
// Without it, users lose the one failing Pod below a resource.
package tree
