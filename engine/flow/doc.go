// Package flow follows the templates of a folder without running them: with
// types instead of values, along every branch.
//
// What it gives is what is wrong with the templates as such (Finding), what
// they read of the resource, and the skeleton of every document that they can
// make, whose leaves know what stands there (Way, Document, Value): what the
// checks on children, and the exposure of fields, are made of.
package flow
