// Package scaffold makes new kinds: CRD, folder, example and golden cases, as
// files that are not yet written. It is pure: values in, files out; whoever
// calls it reads and writes.
//
// The way through the package: ParseNames (names.go) says what a kind is
// called; Form (forms.go) fills in one of the forms that are kept in forms/;
// FromCRD (fromcrd.go) makes a folder for a CRD that there is; FromManifests
// (manifests.go) makes templates of manifests. Each gives a Draft (draft.go).
//
// Without it, users lose a start that lints, from a CRD or from manifests.
package scaffold
