// Package folder reads what platform engineers write: roots that hold crds/,
// templates/ and examples/. It reads files and checks their names and sizes;
// what is in them is for package kind to understand.
//
// Without it, users lose kinds from ConfigMaps and from inside a binary, without a
// rebuild of the image.
package folder
