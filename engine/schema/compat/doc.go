// Package compat compares a CustomResourceDefinition with its earlier state, and
// finds what breaks resources and clients that there are: what the schema no
// longer accepts, keeps or fills in, and what the API server no longer serves.
//
// Without it, users lose changes of a CRD that break resources or clients, found before
// they are applied.
package compat
