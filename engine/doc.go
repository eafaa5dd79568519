// Package engine is the operator as a library: give [New] the folders of your
// kinds, and [Operator.Run] serves their custom resources until its context
// ends. Of this repository's Go code only this package and
// [github.com/jacquard-operator/jacquard/engine/folder] are promised to others.
//
// # The road
//
// Creating, changing and deleting a custom resource go down one road, one
// package after the other:
//
//   - folder reads the files of a kind; kind compiles them, with the CRD from
//     schema and the template files from template;
//   - cluster watches what the cluster has, and hands it out as values of live;
//   - render turns a resource, and what its templates read, into children and
//     status fields. It sends nothing;
//   - plan compares the children with the live objects and decides what is to be
//     done. It sends nothing either;
//   - apply is the only package that writes, each time with a precondition;
//   - status says in one value what became of the resource;
//   - reconcile does all this for one resource, and controller runs it: it follows
//     folders and CRDs, has a queue for each kind, and rolls changed folders out.
//
// Without it, users lose building an operator of their own around a folder
// (`examples/embedded`).
package engine
