// Package catalog is what the tools know without a cluster: the kinds of some
// roots, compiled; resource files, read as an API server would read them; and a
// stand-in for the cluster that answers what templates ask. It reads files and
// nothing else.
//
// The way through the package: Load (catalog.go) makes a Catalog; Read
// (objects.go) makes Objects of a file; Catalog.Resources (resource.go) finds
// the custom resources among them, defaulted and validated; Catalog.Cluster
// (cluster.go) makes a Cluster of the rest. Golden cases are in golden.go.
//
// Without it, users lose every tool that needs no cluster.
package catalog
