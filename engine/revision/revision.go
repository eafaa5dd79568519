package revision

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A Revision is one state of a folder, as it was served.
type Revision struct {
	// Kind is the name of the CRD, Digest that of the compiled folder, cut as
	// records on the CRD cut it.
	Kind, Digest string
	// Number is greater the later the revision was served last, and Made is when
	// it was first.
	Number int64
	Made   time.Time

	archive []byte
	wrong   error
	stored  []metav1.Object
}

// settingsFile is the archive's file of settings of the installation, where they
// override those of config.yaml.
const settingsFile = "settings.yaml"

// Cut is a digest as records have it.
func Cut(digest string) string { return digest[:min(16, len(digest))] }

// Of is the present state of a folder: its files, the partials that it calls, and
// the settings that it is served with.
func Of(k *kind.Kind, f *folder.Folder) (*Revision, error) {
	r := &Revision{Kind: k.Name, Digest: Cut(k.Digest)}
	files := map[string][]byte{}
	dir := path.Join("templates", k.Name)
	for _, file := range slices.Concat(f.Children, f.Files) {
		files[path.Join(dir, file.Name)] = file.Data
	}
	for _, file := range []*folder.File{f.Status, f.Settings, f.Config} {
		if file != nil {
			files[path.Join(dir, file.Name)] = file.Data
		}
	}
	for _, file := range f.Partials {
		switch {
		case !k.Templates.Calls(file.Shown):
		case folder.IsLib(file):
			files[path.Join("templates", folder.LibName, file.Name)] = file.Data
		default:
			files[path.Join(dir, file.Name)] = file.Data
		}
	}
	if text := k.RootHealth(); text != nil {
		files[path.Join("templates", folder.LibName, folder.HealthName)] = text
	}
	if len(k.Overrides) > 0 {
		text, err := json.Marshal(map[string]any{k.Name: k.Config})
		if err != nil {
			return nil, fmt.Errorf("keeping a revision of %s: encoding its settings: %w", k.Name, err)
		}
		files[settingsFile] = text
	}
	var err error
	if r.archive, err = packFiles(files); err != nil {
		return nil, fmt.Errorf("keeping a revision of %s: %w", k.Name, err)
	}
	return r, nil
}

// packFiles makes an archive of files. The same files make the same archive.
func packFiles(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = to.Write(files[name])
		}
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return out.Bytes(), nil
}

// The most that an archive may hold: whoever wrote it may not be us.
const (
	mostFiles = 10_000
	mostBytes = 64 << 20
)

// openRoot opens the archive as a root with a folder and, if it has any, _lib. What it holds is not
// yet known to have the digest.
func (r *Revision) openRoot() (*folder.Root, error) {
	if r.wrong != nil {
		return nil, r.wrong
	}
	files, err := openArchive(r.archive)
	if err != nil {
		return nil, err
	}
	return folder.FromFS(files, r.displayName()), nil
}

// openArchive opens an archive, unless it is too large.
func openArchive(archive []byte) (*zip.Reader, error) {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("reading its archive: %w", err)
	}
	size := uint64(0)
	for _, f := range files.File {
		size += min(f.UncompressedSize64, mostBytes+1)
	}
	if len(files.File) > mostFiles || size > mostBytes {
		return nil, fmt.Errorf("its archive has %d files of %d bytes; at most %d of %d bytes are read", len(files.File), size, mostFiles, mostBytes)
	}
	return files, nil
}

// displayName names the revision for people.
func (r *Revision) displayName() string { return "revision " + r.Digest }

// Folder is the folder as it was served, and the settings that overrode those of
// its config.yaml, or nil. It is an error if what is stored has another digest.
func (r *Revision) Folder() (*folder.Folder, *kind.Config, error) {
	f, settings, err := r.readFolder()
	if err != nil {
		return nil, nil, fmt.Errorf("revision %s of %s cannot be used: %w", r.Digest, r.Kind, err)
	}
	return f, settings, nil
}

// readFolder reads the folder, and the settings that override those of its config.yaml, or nil.
func (r *Revision) readFolder() (*folder.Folder, *kind.Config, error) {
	root, err := r.openRoot()
	if err != nil {
		return nil, nil, err
	}
	contents, err := root.Read()
	if err != nil {
		return nil, nil, err
	}
	f := contents.Folders[r.Kind]
	if f == nil {
		return nil, nil, cmp.Or(contents.Broken[r.Kind], errors.New("it holds no folder of this kind"))
	}
	text, err := root.File(settingsFile)
	if err != nil || text == nil {
		return f, nil, err
	}
	settings, err := kind.ReadConfig(path.Join(r.displayName(), settingsFile), text)
	return f, settings, err
}

// Compile is the revision compiled against a CRD. It is an error if what is stored
// has another digest than the revision's, or does not fit the CRD.
func (r *Revision) Compile(crd *schema.CRD) (*kind.Kind, error) {
	f, settings, err := r.Folder()
	if err != nil {
		return nil, err
	}
	k, err := kind.Compile(f, crd)
	if err == nil {
		k, err = settings.Apply(k)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("revision %s of %s does not fit the CRD: %w", r.Digest, r.Kind, err)
	case Cut(k.Digest) != r.Digest:
		return nil, fmt.Errorf("revision %s of %s is refused: what is stored has the digest %s, so somebody changed it", r.Digest, r.Kind,
			Cut(k.Digest))
	}
	return k, nil
}

// ByNumber sorts revisions, the one that was served last first.
func ByNumber(all []*Revision) {
	slices.SortFunc(all, func(a, b *Revision) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), strings.Compare(a.Digest, b.Digest))
	})
}
