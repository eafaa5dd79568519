package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// A member is a file in an archive. All belong to root and have the same time.
type member struct {
	name string
	mode fs.FileMode
	data []byte
}

// writeArchive writes a .tar.gz or .zip, as the name of the file says. The same
// members and time give the same bytes.
func writeArchive(file string, at time.Time, members []member) error {
	write := writeTar
	if strings.HasSuffix(file, ".zip") {
		write = writeZip
	}
	var text bytes.Buffer
	if err := write(&text, at, members); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

func writeTar(w io.Writer, at time.Time, members []member) error {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	for _, m := range members {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: m.name, Mode: int64(m.mode), Size: int64(len(m.data)), ModTime: at}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(m.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func writeZip(w io.Writer, at time.Time, members []member) error {
	archive := zip.NewWriter(w)
	for _, m := range members {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: at}
		header.SetMode(m.mode)
		to, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := to.Write(m.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

// redateZip copies a zip, and gives all of its files one time.
func redateZip(from, to string, at time.Time) error {
	archive, err := zip.OpenReader(from)
	if err != nil {
		return fmt.Errorf("reading %s: %w", from, err)
	}
	defer archive.Close() //nolint:errcheck // it was only read
	var members []member
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		content, err := f.Open()
		if err != nil {
			return fmt.Errorf("reading %s of %s: %w", f.Name, from, err)
		}
		data, err := io.ReadAll(content)
		if err != nil {
			return fmt.Errorf("reading %s of %s: %w", f.Name, from, err)
		}
		members = append(members, member{f.Name, 0o644, data})
	}
	var text bytes.Buffer
	if err := writeZip(&text, at, members); err != nil {
		return fmt.Errorf("writing %s: %w", to, err)
	}
	return os.WriteFile(to, text.Bytes(), 0o644)
}
