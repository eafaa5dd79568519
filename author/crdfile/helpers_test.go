package crdfile

import (
	"os"
	"path/filepath"
	"testing"
)

// testdata has definitions, one in each file.
const testdata = "../../engine/schema/testdata"

// source returns the text of a definition in testdata.
func source(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const (
	webapps = "webapps.apps.example.com"
	zones   = "zones.net.example.com"
	backups = "backups.data.example.com"
	blobs   = "blobs.free.example.com"
)
