package folder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// computeDigest returns the digest of all files of the folder, and of the settings that override
// its own.
func (f *Folder) computeDigest() string {
	all := f.All()
	if f.Overrides != nil {
		all = append(all, *f.Overrides)
	}
	return digestOf(all)
}

// Sum is SHA-256 of what the folder renders: the names and contents of its
// files, the contents of those partials that are called, and the health expressions
// of the root that the folder uses, which are empty if it uses none. The names of
// partials are no part of it: a partial of templates/_lib has another one where
// a folder comes out of a ConfigMap. Overrides are no part of it either: package kind
// puts settings into the digest, wherever they come from.
func (f *Folder) Sum(called func(File) bool, rootHealth []byte) string {
	var partials []File
	for _, p := range f.Partials {
		if called(p) {
			partials = append(partials, File{Name: "partial", Data: p.Data})
		}
	}
	slices.SortFunc(partials, func(a, b File) int { return bytes.Compare(a.Data, b.Data) })
	all := f.filesWith(partials)
	if len(rootHealth) > 0 {
		all = append(all, File{Name: LibHealthName, Data: rootHealth})
	}
	return digestOf(all)
}

// All returns all files of the folder.
func (f *Folder) All() []File {
	all := f.filesWith(f.Partials)
	if f.Health != nil {
		all = append(all, *f.Health)
	}
	return all
}

// filesWith returns all files of the folder, with these partials.
func (f *Folder) filesWith(partials []File) []File {
	all := slices.Concat(f.Children, partials)
	for _, file := range []*File{f.Status, f.Settings, f.Config} {
		if file != nil {
			all = append(all, *file)
		}
	}
	return append(all, f.Files...)
}

func digestOf(files []File) string {
	h := sha256.New()
	for _, file := range files {
		fmt.Fprintf(h, "%s %d\n", file.Name, len(file.Data))
		h.Write(file.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
