// Package plan decides what is to be done for one custom resource, completely
// and before anything is done: which children to create, to apply again, to
// recreate, to leave alone, to prune; which objects of others to patch and which
// patches to release. A resource that goes is planned in the same way, with
// nothing wanted. It is pure; a Plan can be printed.
//
// Without it, users lose decisions that can be read before they are carried out.
package plan
