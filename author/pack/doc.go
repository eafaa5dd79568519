// Package pack makes of a kind what teaches it to an operator that runs: roles,
// the CRD, and the folder as ConfigMaps. It is pure: a kind in, YAML out, the
// same for the same kind.
//
// Without it, users lose kinds for an operator that runs already.
package pack
