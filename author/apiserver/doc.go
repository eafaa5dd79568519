// Package apiserver does to an object offline what an API server does when it is created:
// it fills in the defaults of a CRD's schema, finds the fields that the schema does not
// declare, and validates. It uses the API server's own libraries.
//
// Without it, users lose the errors of a resource before it is applied.
package apiserver
