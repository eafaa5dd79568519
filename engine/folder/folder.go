package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxFile is the largest file that is read, in bytes.
const MaxFile = 1 << 20

// A File is one file: Name is its path inside the folder, Shown how errors
// call it.
type File struct {
	Name  string
	Shown string
	Data  []byte
}

// A Folder is what is in templates/<name>/, as read; Name is the CRD's name.
type Folder struct {
	Name string
	// Children are the *.yaml files that make children, by name.
	Children []File
	// Partials are its own _*.tpl and those of templates/_lib.
	Partials []File
	// Files are those of files/, by name, which begins with files/.
	Files []File
	// Status is status.yaml, Settings is kind.yaml, Config is config.yaml; nil
	// when absent.
	Status, Settings, Config *File
	// Health is templates/_lib/health.yaml of the root; nil when absent.
	Health *File
	// Overrides are settings that override those of Config, from an annotation of the
	// folder's ConfigMap; nil without it. They are no file of the folder.
	Overrides *File
	// Digest is SHA-256 of all names and contents, and of Overrides.
	Digest string
}

// LibName is the folder of partials that every kind may call.
const LibName = "_lib"

// IsLib reports whether a partial is one of templates/_lib.
func IsLib(f File) bool { return path.Base(path.Dir(f.Shown)) == LibName }

// filesName is the directory of a folder whose files templates read as texts.
const filesName = "files"

// HealthName is the file of templates/_lib with the health expressions of a root, and
// LibHealthName what it is called inside a folder that has no templates/_lib beside it.
const (
	HealthName    = "health.yaml"
	LibHealthName = LibName + "-" + HealthName
)

// readFolder reads one folder and sorts its files by what they are for.
func readFolder(fsys fs.FS, shown, name string, shared lib) (*Folder, error) {
	dir := path.Join(templatesName, name)
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("reading folder %s: %w", path.Join(shown, dir), err)
	}
	f := &Folder{Name: name, Partials: slices.Clone(shared.partials), Health: shared.health}
	errs := []error{shared.err}
	for _, e := range entries {
		if err := f.readEntry(fsys, shown, path.Join(dir, e.Name())); err != nil {
			errs = append(errs, err)
		}
	}
	f.Digest = f.computeDigest()
	return f, errors.Join(errs...)
}

// readEntry reads one entry of the folder.
func (f *Folder) readEntry(fsys fs.FS, shown, file string) error {
	name := path.Base(file)
	switch {
	case strings.HasPrefix(name, "."), name == "tests":
		return nil
	case name == filesName:
		return f.takeFiles(fsys, shown, file)
	case !isKnown(name):
		return fmt.Errorf("%s: a folder holds *.yaml, _*.tpl, files/ and tests/, nothing else: rename or remove it", path.Join(shown, file))
	}
	read, err := readFile(fsys, shown, file)
	if err != nil {
		return err
	}
	return f.addFile(name, *read)
}

// takeFiles reads the files of files/.
func (f *Folder) takeFiles(fsys fs.FS, shown, dir string) error {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path.Join(shown, dir), err)
	}
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		read, err := readFile(fsys, shown, path.Join(dir, e.Name()))
		if err == nil {
			err = f.addFile(path.Join(filesName, e.Name()), *read)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// addFile puts a file where it belongs by its path inside the folder.
func (f *Folder) addFile(name string, file File) error {
	file.Name = name
	if strings.HasPrefix(name, filesName+"/") {
		if !utf8.Valid(file.Data) {
			return fmt.Errorf("reading %s: it is no text in UTF-8: templates cannot show it", file.Shown)
		}
		f.Files = append(f.Files, file)
		return nil
	}
	file.Data = Clean(file.Data)
	if err := checkBlank(file); err != nil {
		return err
	}
	switch {
	case name == "status.yaml":
		f.Status = &file
	case name == "kind.yaml":
		f.Settings = &file
	case name == "config.yaml":
		f.Config = &file
	case name == LibHealthName:
		f.Health = &file
	case isPartial(name):
		f.Partials = append(f.Partials, file)
	default:
		f.Children = append(f.Children, file)
	}
	return nil
}

// checkBlank returns an error for a file without text: it is being written, or was cut off.
func checkBlank(file File) error {
	if len(bytes.TrimSpace(file.Data)) == 0 {
		return fmt.Errorf("reading %s: it is empty: write it, or remove it", file.Shown)
	}
	return nil
}

func isKnown(name string) bool { return isPartial(name) || strings.HasSuffix(name, ".yaml") }

func isPartial(name string) bool {
	return strings.HasPrefix(name, "_") && strings.HasSuffix(name, ".tpl")
}

// readFile reads one regular file of at most MaxFile bytes, as it is.
func readFile(fsys fs.FS, shown, file string) (*File, error) {
	as := path.Join(shown, file)
	// To open a pipe would wait for somebody to write into it.
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", as, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: it is not a regular file", as)
	}
	open, err := fsys.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", as, err)
	}
	defer open.Close()
	data, err := io.ReadAll(io.LimitReader(open, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", as, err)
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("reading %s: it is larger than %d bytes", as, MaxFile)
	}
	return &File{Name: path.Base(file), Shown: as, Data: data}, nil
}

// Clean drops a byte order mark and makes line ends those of Unix, so that
// where a file was written does not change what it means.
func Clean(data []byte) []byte {
	text := strings.TrimPrefix(string(data), "\uFEFF")
	return []byte(strings.ReplaceAll(text, "\r\n", "\n"))
}
