package registry_test

import (
	"net/http"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/jacquard-operator/jacquard/test/e2e/oci"
	"github.com/jacquard-operator/jacquard/test/e2e/registry"
)

// TestPush: what was pushed is found where a mirror is asked for it.
func TestPush(t *testing.T) {
	r, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var files oci.Files
	files.Add("/hello", 0o644, []byte("hello"))
	image, err := oci.Image{Platform: v1.Platform{OS: "linux", Architecture: "amd64"}, Files: &files}.Build()
	if err != nil {
		t.Fatal(err)
	}
	want, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"nginx:1.29":              "library/nginx/manifests/1.29?ns=docker.io",
		"some/app":                "some/app/manifests/latest?ns=docker.io",
		"quay.io/org/app:v1":      "org/app/manifests/v1?ns=quay.io",
		"localhost:5000/app:v1.2": "app/manifests/v1.2?ns=localhost:5000",
	} {
		if err := r.Push(image, name); err != nil {
			t.Fatal(err)
		}
		answer, err := http.Head(r.URL() + "/v2/" + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if got := answer.Header.Get("Docker-Content-Digest"); answer.StatusCode != http.StatusOK || got != want.String() {
			t.Errorf("%s: %s, %q; %s was pushed", name, answer.Status, got, want)
		}
	}
}
