package apiserver_test

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/schema"
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

// storage returns the storage version of a definition in testdata.
func storage(t testing.TB, name string) *schema.Version {
	t.Helper()
	crd, err := crdfile.Parse(name+".yaml", []byte(source(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	v, err := crd.Version("")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// object reads a resource as a Kubernetes client would: integers are int64.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	obj := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

const (
	webapps = "webapps.apps.example.com"
	zones   = "zones.net.example.com"
	backups = "backups.data.example.com"
	blobs   = "blobs.free.example.com"
)
