package lsp

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// An overlay is a file system with the texts that the editor has open in the place of
// what is saved. Names are as in package fs. It is read-only.
type overlay struct {
	fs.FS
	texts map[string]string
}

// Open opens a file or directory.
func (o overlay) Open(name string) (fs.File, error) {
	text, open := o.texts[name]
	if !open {
		return o.FS.Open(name)
	}
	return &openText{strings.NewReader(text), textInfo{path.Base(name), int64(len(text))}}, nil
}

// ReadDir lists a directory, with the files that are not saved yet.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	for file, text := range o.texts {
		same := func(e fs.DirEntry) bool { return e.Name() == path.Base(file) }
		if path.Dir(file) == name && !slices.ContainsFunc(entries, same) {
			entries, err = append(entries, fs.FileInfoToDirEntry(textInfo{path.Base(file), int64(len(text))})), nil
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

type openText struct {
	*strings.Reader
	info textInfo
}

func (t *openText) Stat() (fs.FileInfo, error) { return t.info, nil }
func (t *openText) Close() error               { return nil }

var _ io.Reader = (*openText)(nil)

type textInfo struct {
	name string
	size int64
}

func (i textInfo) Name() string     { return i.name }
func (i textInfo) Size() int64      { return i.size }
func (textInfo) Mode() fs.FileMode  { return 0o444 }
func (textInfo) ModTime() time.Time { return time.Time{} }
func (textInfo) IsDir() bool        { return false }
func (textInfo) Sys() any           { return nil }
