package lsp

import (
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

// Open opens a file or directory. A directory may have nothing but texts that are not
// saved.
func (o overlay) Open(name string) (fs.File, error) {
	if text, open := o.texts[name]; open {
		return &openText{strings.NewReader(text), textInfo{path.Base(name), int64(len(text)), 0o444}}, nil
	}
	f, err := o.FS.Open(name)
	if err != nil && len(o.unsavedEntries(name)) > 0 {
		return &openText{strings.NewReader(""), textInfo{path.Base(name), 0, fs.ModeDir | 0o555}}, nil
	}
	return f, err
}

// unsavedEntries returns the entries of a directory that come from unsaved texts.
func (o overlay) unsavedEntries(dir string) map[string]fs.FileInfo {
	all := map[string]fs.FileInfo{}
	for file, text := range o.texts {
		below, inside := strings.CutPrefix(file, dir+"/")
		if dir == "." {
			below, inside = file, true
		}
		name, _, deeper := strings.Cut(below, "/")
		switch {
		case !inside:
		case deeper:
			all[name] = textInfo{name, 0, fs.ModeDir | 0o555}
		default:
			all[name] = textInfo{name, int64(len(text)), 0o444}
		}
	}
	return all
}

// ReadDir lists a directory, with what is not saved yet.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	for file, info := range o.unsavedEntries(name) {
		if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == file }) {
			entries, err = append(entries, fs.FileInfoToDirEntry(info)), nil
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

type textInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i textInfo) Name() string      { return i.name }
func (i textInfo) Size() int64       { return i.size }
func (i textInfo) Mode() fs.FileMode { return i.mode }
func (textInfo) ModTime() time.Time  { return time.Time{} }
func (i textInfo) IsDir() bool       { return i.mode.IsDir() }
func (textInfo) Sys() any            { return nil }
