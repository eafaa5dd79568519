// Package exposure says which fields of a custom resource reach which fields of
// its children: what whoever may write the resource can make the operator
// write. It is pure, and made of what package flow finds out about templates
// without running them.
//
// Without it, users lose the warning that a kind gives its users more than they have.
package exposure
