// Package rbac says which rights an operator needs to serve a kind: exactly
// those for the requests that its folder can lead to, as far as a folder tells
// when it is loaded. It is pure: kinds in, roles out.
//
// Of makes the roles of one kind, Base those that every operator has, Users
// those of the people who write custom resources; Write writes them as YAML,
// each rule with a comment that says what needs it.
//
// Without it, users lose least privilege: the exact roles of a folder.
package rbac
