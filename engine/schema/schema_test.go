package schema

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// source returns the text of a definition in testdata.
func source(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// definition returns a definition in testdata, as a live one is read.
func definition(t testing.TB, name string) *CRD {
	t.Helper()
	object := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(source(t, name)), object); err != nil {
		t.Fatal(err)
	}
	crd, err := FromObject(object)
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

// storage returns the storage version of a definition in testdata.
func storage(t testing.TB, name string) *Version {
	t.Helper()
	v, err := definition(t, name).Version("")
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
