package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var commitTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestArchives: the same members make the same archives; all have the time of the
// commit and no owner, and the binary can be executed.
func TestArchives(t *testing.T) {
	members := []member{{"LICENSE", 0o644, []byte("terms")}, {"jacquard", 0o755, []byte("program")}}
	for _, name := range []string{"a.tar.gz", "a.zip"} {
		var texts [2][]byte
		for i := range texts {
			file := filepath.Join(t.TempDir(), name)
			if err := writeArchive(file, commitTime, members); err != nil {
				t.Fatal(err)
			}
			texts[i] = read(t, file)
		}
		if !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("%s is another one each time", name)
		}
		unpack := untar
		if name == "a.zip" {
			unpack = unzip
		}
		if diff := cmp.Diff(members, unpack(t, texts[0]), cmp.AllowUnexported(member{})); diff != "" {
			t.Errorf("%s (-put in +got out):\n%s", name, diff)
		}
	}
}

func untar(t *testing.T, text []byte) (found []member) {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(compressed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(commitTime) || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s is of %s and of %d %s", header.Name, header.ModTime, header.Uid, header.Uname)
		}
		found = append(found, member{header.Name, header.FileInfo().Mode().Perm(), data})
	}
}

func unzip(t *testing.T, text []byte) (found []member) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Modified.Equal(commitTime) {
			t.Errorf("%s is of %s", f.Name, f.Modified)
		}
		found = append(found, member{f.Name, f.Mode().Perm(), data})
	}
	return found
}

// TestRedateZip: of two packages that differ only in their times, as vsce writes
// them, the same bytes are made.
func TestRedateZip(t *testing.T) {
	members := []member{{"extension/package.json", 0o644, []byte("{}")}, {"[Content_Types].xml", 0o644, []byte("<Types/>")}}
	var texts [2][]byte
	for i := range texts {
		dir := t.TempDir()
		from, to := filepath.Join(dir, "from.zip"), filepath.Join(dir, "to.zip")
		if err := writeArchive(from, time.Date(2030+i, 1, 1, 0, 0, 0, 0, time.Local), members); err != nil {
			t.Fatal(err)
		}
		if err := redateZip(from, to, commitTime); err != nil {
			t.Fatal(err)
		}
		texts[i] = read(t, to)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("the times of the package are left")
	}
	if diff := cmp.Diff(members, unzip(t, texts[0]), cmp.AllowUnexported(member{})); diff != "" {
		t.Errorf("(-package +made of it):\n%s", diff)
	}
}
