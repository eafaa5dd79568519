package cluster

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildWeb returns an archive of the image that tests run.
func buildWeb(t *testing.T) []byte {
	t.Helper()
	program := filepath.Join(t.TempDir(), "web")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "./testdata/web")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building testdata/web: %v: %s", err, out)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := imageArchive("localhost/web:test", "/web", data)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// serveImage is a registry that has one image, under every name.
func serveImage(t *testing.T, archive []byte) *httptest.Server {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	blobs := map[string][]byte{}
	describe := func(kind string, data []byte) map[string]any {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
		blobs[digest] = data
		return map[string]any{"mediaType": kind, "digest": digest, "size": len(data)}
	}
	const manifestType = "application/vnd.oci.image.manifest.v1+json"
	manifest, _ := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType,
		"config": describe("application/vnd.oci.image.config.v1+json", files["config.json"]),
		"layers": []any{describe("application/vnd.oci.image.layer.v1.tar", files["layer.tar"])},
	})
	digest := describe(manifestType, manifest)["digest"].(string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := blobs[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
		if strings.Contains(r.URL.Path, "/manifests/") {
			data = manifest
			w.Header().Set("Content-Type", manifestType)
			w.Header().Set("Docker-Content-Digest", digest)
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestImageArchive: the same program gives the same archive, so that a node
// knows it again.
func TestImageArchive(t *testing.T) {
	one, err := imageArchive("localhost/a:1", "/a", []byte("program"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := imageArchive("localhost/a:1", "/a", []byte("program"))
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("two archives of the same program differ (%v)", err)
	}
}
