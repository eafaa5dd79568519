// Package crdfile reads CustomResourceDefinitions from files of authors. It finds
// what an API server refuses at creation, and unknown and repeated fields, each
// with its line and column. The operator needs none of it: it reads definitions
// that an API server has accepted.
//
// Without it, users lose errors in a CRD that name their line, before it is applied.
package crdfile
