// Package roots reads the folders of an operator's roots while people and tools
// write them. It decides which state of a folder counts: one that is being written,
// and a root that is not there, never looks like a kind that was removed.
//
// Without it, users lose children, whenever somebody saves a file in two steps or swaps
// a directory.
package roots
