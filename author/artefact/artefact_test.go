package artefact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/pack"
)

const website = "websites.hosting.example.com"

// A server is a registry on the loopback interface that may change what it
// answers.
type server struct {
	host   string
	change func(path string, body []byte) []byte
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.change == nil || r.Method != http.MethodGet {
			inner.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		inner.ServeHTTP(answer, r)
		body := s.change(r.URL.Path, bytes.Clone(answer.Body.Bytes()))
		for key := range answer.Header() {
			if key != "Docker-Content-Digest" {
				w.Header().Set(key, answer.Header().Get(key))
			}
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	}))
	t.Cleanup(outer.Close)
	s.host = strings.TrimPrefix(outer.URL, "http://")
	return s
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// selected are the files of kinds of roots.
func selected(t *testing.T, tests bool, kind string, roots ...string) Files {
	t.Helper()
	kinds, err := catalog.Load(roots)
	if err != nil {
		t.Fatal(err)
	}
	install := pack.Install{Namespace: "jacquard", Name: "jacquard"}
	files, err := Selection{Kinds: kinds, Names: []string{kind}, Install: install, Tests: tests}.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func hosting(t *testing.T) Files {
	t.Helper()
	return selected(t, false, website, "../../examples/kinds/webhosting")
}

func made(t *testing.T, files Files) v1.ImageIndex {
	t.Helper()
	image, err := files.Image(map[string]string{"org.opencontainers.image.title": "a"})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func (s *server) push(t *testing.T, files Files, key *ecdsa.PrivateKey, tags ...string) string {
	t.Helper()
	tags[0] = s.host + "/" + tags[0]
	digest, err := Registry{}.Push(context.Background(), made(t, files), tags, key)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// TestRoundTrip: what is pushed is pulled, by each tag and by digest, and is a
// root of the same kind, which another push makes the same image of.
func TestRoundTrip(t *testing.T) {
	s, key := newServer(t), newKey(t)
	files := hosting(t)
	digest := s.push(t, files, key, "team/kinds:v1", "latest")
	for _, ref := range []string{"team/kinds:v1", "team/kinds:latest", "team/kinds@" + digest, "team/kinds:v1@" + digest} {
		got, resolved, err := Registry{}.Pull(context.Background(), s.host+"/"+ref, &key.PublicKey, false)
		if err != nil || resolved != digest {
			t.Fatalf("%s: %s %v, want %s", ref, resolved, err, digest)
		}
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("%s: other files:\n%s", ref, diff)
		}
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := files.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	if again := s.push(t, selected(t, false, website, dir), key, "team/kinds:v2"); again != digest {
		t.Errorf("the same folders have the digests %s and %s", digest, again)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(directories) {
		t.Errorf("the root has %v %v", entries, err)
	}
}

// TestFiles: an image has what a kind needs, and no more.
func TestFiles(t *testing.T) {
	got := slices.Sorted(maps.Keys(hosting(t)))
	want := []string{
		"crds/" + website + ".yaml", "examples/" + website + ".yaml", "packed/" + website + ".yaml", "schemas/themes.hosting.example.com.yaml",
	}
	for _, file := range []string{"_partials.tpl", "config.yaml", "deployment.yaml", "ingress.yaml", "kind.yaml", "page.yaml", "service.yaml",
		"status.yaml"} {
		want = append(want, "templates/"+website+"/"+file)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	tests := selected(t, true, website, "../../examples/kinds/webhosting")
	if tests["templates/"+website+"/tests/plain/resource.yaml"] == nil {
		t.Errorf("the golden cases are missing: %v", slices.Sorted(maps.Keys(tests)))
	}
}

// TestLibrary: the partials of templates/_lib that a kind calls belong to it, and
// no others.
func TestLibrary(t *testing.T) {
	dir := t.TempDir()
	if err := hosting(t).Write(dir, false); err != nil {
		t.Fatal(err)
	}
	page := "templates/" + website + "/page.yaml"
	text, err := os.ReadFile(filepath.Join(dir, page))
	if err != nil {
		t.Fatal(err)
	}
	more := Files{page: append(text, "  more: {{ include \"lib\" . }}\n"...),
		"templates/_lib/called.tpl": []byte("{{ define \"lib\" }}a{{ end }}"), "templates/_lib/other.tpl": []byte("{{ define \"other\" }}a{{ end }}")}
	for file, data := range more {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := selected(t, false, website, dir)
	if got["templates/_lib/called.tpl"] == nil || got["templates/_lib/other.tpl"] != nil {
		t.Errorf("the files are %v", slices.Sorted(maps.Keys(got)))
	}
}

// TestHealth: an image has the health expressions that its kinds use of their root's;
// those of two roots may not contradict each other.
func TestHealth(t *testing.T) {
	const entry = "- {apiVersion: v1, kind: ConfigMap, current: has(data.a)}\n"
	first := rootWith(t, "first.example.com", entry+"- {apiVersion: example.org/v1, current: has(status.a)}\n")
	for text, want := range map[string]string{
		"":    "templates/_lib/health.yaml: second.example.com would get entries of another root: push their kinds into different images",
		entry: "",
		"- {apiVersion: v1, kind: ConfigMap, current: has(data.b)}\n": "templates/_lib/health.yaml: two roots have different entries for ConfigMap: push their kinds into different images",
	} {
		kinds, err := catalog.Load([]string{first, rootWith(t, "second.example.com", text)})
		if err != nil {
			t.Fatal(err)
		}
		files, err := Selection{Kinds: kinds, Names: []string{"first.example.com", "second.example.com"},
			Install: pack.Install{Namespace: "jacquard", Name: "jacquard"}}.Files()
		if want != "" {
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
			continue
		}
		if got := string(files["templates/_lib/health.yaml"]); err != nil || !strings.Contains(got, "has(data.a)") || strings.Contains(got, "example.org") {
			t.Errorf("%v, the image has\n%s", err, got)
		}
	}
}

// rootWith is a root with a kind that renders a ConfigMap, and entries of health
// expressions.
func rootWith(t *testing.T, name, entries string) string {
	t.Helper()
	dir := t.TempDir()
	plural, group, _ := strings.Cut(name, ".")
	files := Files{
		"crds/" + name + ".yaml": []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + name + "}\n" +
			"spec:\n  group: " + group + "\n  names: {kind: A" + plural + ", plural: " + plural + "}\n  scope: Namespaced\n" +
			"  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"),
		"templates/" + name + "/a.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n"),
	}
	if entries != "" {
		files["templates/_lib/health.yaml"] = []byte("healthCheckExprs:\n" + entries)
	}
	if err := files.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestImage: container runtimes of each architecture find a manifest, whose
// configuration names it, with the one layer; annotations are on all.
func TestImage(t *testing.T) {
	image := made(t, hosting(t))
	index, err := image.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	layers := map[string]bool{}
	for i, platform := range platforms {
		one, err := image.Image(index.Manifests[i].Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := one.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		m, err := one.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		if !config.Platform().Equals(platform) || !index.Manifests[i].Platform.Equals(platform) || len(m.Layers) != 1 ||
			m.Layers[0].MediaType != "application/vnd.oci.image.layer.v1.tar+gzip" || m.MediaType != "application/vnd.oci.image.manifest.v1+json" {
			t.Errorf("%s: %+v %+v", platform, config, m)
		}
		if m.Annotations["org.opencontainers.image.title"] != "a" || index.Annotations["org.opencontainers.image.title"] != "a" {
			t.Errorf("%s: the annotations are %v and %v", platform, m.Annotations, index.Annotations)
		}
		layers[m.Layers[0].Digest.String()] = true
		unpacked, err := one.Layers()
		if err != nil {
			t.Fatal(err)
		}
		diffID, err := unpacked[0].DiffID()
		if err != nil || config.RootFS.DiffIDs[0] != diffID {
			t.Errorf("%s: the layer is %s, the configuration says %v (%v)", platform, diffID, config.RootFS, err)
		}
	}
	if len(layers) != 1 {
		t.Errorf("the layers differ: %v", layers)
	}
	archive, err := hosting(t).makeArchive()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || !header.ModTime.Equal(epoch) || header.Mode != 0o644 && header.Mode != 0o755 {
			t.Errorf("%+v", header)
		}
		names = append(names, header.Name)
	}
	if !slices.IsSorted(names) || names[0] != "crds/" {
		t.Errorf("the entries are %v", names)
	}
}

// TestUnpinned: without a key, only a digest says what is expected.
func TestUnpinned(t *testing.T) {
	s := newServer(t)
	digest := s.push(t, hosting(t), nil, "team/kinds:v1")
	ctx := context.Background()
	if _, _, err := (Registry{}).Pull(ctx, s.host+"/team/kinds:v1", nil, false); !errors.Is(err, ErrUnpinned) {
		t.Errorf("the error is %v", err)
	}
	if _, _, err := (Registry{}).Pull(ctx, s.host+"/team/kinds:v1", nil, true); err != nil {
		t.Error(err)
	}
	if _, _, err := (Registry{}).Pull(ctx, s.host+"/team/kinds@"+digest, nil, false); err != nil {
		t.Error(err)
	}
}

// TestSignatures: several people sign an image; each key finds its own.
func TestSignatures(t *testing.T) {
	s, one, two, other := newServer(t), newKey(t), newKey(t), newKey(t)
	s.push(t, hosting(t), one, "team/kinds:v1")
	s.push(t, hosting(t), two, "team/kinds:v1")
	digest := s.push(t, hosting(t), one, "team/kinds:v1")
	pull := func(ref string, key *ecdsa.PrivateKey) error {
		_, _, err := Registry{}.Pull(context.Background(), s.host+"/"+ref, &key.PublicKey, false)
		return err
	}
	for _, key := range []*ecdsa.PrivateKey{one, two} {
		if err := pull("team/kinds:v1", key); err != nil {
			t.Error(err)
		}
	}
	if err := pull("team/kinds@"+digest, other); !says(err, "none of its signatures is valid") || strings.Count(err.Error(), "with this key") != 2 {
		t.Errorf("the error of another key is %v", err)
	}
	s.push(t, hosting(t), nil, "team/unsigned:v1")
	if err := pull("team/unsigned:v1", one); !says(err, "it has no signature (tag sha256-") || !says(err, "push --sign") {
		t.Errorf("the error without a signature is %v", err)
	}
}

func says(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

// TestTampering: whatever of an image or its signature is changed, it is refused.
func TestTampering(t *testing.T) {
	s, key := newServer(t), newKey(t)
	digest := s.push(t, hosting(t), key, "team/kinds:v1")
	other := hosting(t)
	other["examples/more.yaml"] = []byte("a: b\n")
	otherDigest := s.push(t, other, key, "team/kinds:v2")
	signatures, otherSignatures := "/manifests/sha256-"+digest[7:]+".sig", "/manifests/sha256-"+otherDigest[7:]+".sig"
	bodies := map[string][]byte{}
	pull := func(ref string) error {
		_, _, err := Registry{}.Pull(context.Background(), s.host+"/"+ref, &key.PublicKey, false)
		return err
	}
	s.change = func(path string, body []byte) []byte {
		bodies[path] = body
		return body
	}
	for _, ref := range []string{"team/kinds:v1", "team/kinds:v2"} {
		if err := pull(ref); err != nil {
			t.Fatal(err)
		}
	}
	prefix := "/v2/team/kinds"
	blobs := 0
	for path := range maps.Clone(bodies) {
		if !strings.HasPrefix(path, prefix) || strings.Contains(path, ":v") && !strings.Contains(path, "v1") {
			continue
		}
		flips := []int{len(bodies[path]) / 3, len(bodies[path]) / 2}
		if strings.HasSuffix(path, ".sig") { // nothing else of this manifest is signed, or used
			flips = []int{bytes.Index(bodies[path], []byte(signatureKey)) + len(signatureKey) + 20}
		}
		for _, flip := range flips {
			s.change = func(asked string, body []byte) []byte {
				if asked == path {
					body[flip] ^= 1
				}
				return body
			}
			err1, err2 := pull("team/kinds@"+digest), pull("team/kinds@"+otherDigest)
			if path == prefix+"/manifests/v1" {
				err1 = pull("team/kinds:v1")
			}
			if path != prefix+"/manifests/v2" && err1 == nil && err2 == nil {
				t.Errorf("a changed byte %d of %s is not noticed", flip, path)
			}
		}
		blobs++
	}
	if blobs < 8 {
		t.Errorf("only %d answers were changed: %v", blobs, slices.Sorted(maps.Keys(bodies)))
	}
	for _, tt := range []struct {
		name, path string
		body       []byte
		says       string
	}{
		{"swapped signatures", signatures, bodies[prefix+otherSignatures], "the signature is one of another image, " + otherDigest},
		{"swapped images", "/manifests/v1", bodies[prefix+"/manifests/v2"], ""},
		{"no signatures", signatures, []byte("{}"), "none of its signatures is valid"},
		{"a signature that is none", signatures, bytes.Replace(bodies[prefix+signatures], []byte("signature\":\"M"), []byte("signature\":\"*"), 1),
			"the signature was not made with this key, or was changed"},
	} {
		s.change = func(path string, body []byte) []byte {
			if strings.HasSuffix(path, tt.path) {
				return tt.body
			}
			return body
		}
		err := pull("team/kinds:v1")
		if tt.says == "" && err != nil || tt.says != "" && !says(err, tt.says) { // another signed image is signed too
			t.Errorf("%s: the error is %v; it should say %q", tt.name, err, tt.says)
		}
	}
}

// TestCosign: payloads are those of cosign to the byte, and signatures that
// others made with a key are accepted.
func TestCosign(t *testing.T) {
	digest := func(text string) v1.Hash {
		hash, err := v1.NewHash("sha256:" + text)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	// What cosign 1.13.1 pushed as the payload for this image has this digest.
	text, err := payloadOf("index.docker.io/chihjenhuang/cosign1", digest("4c1c50d0ffc614f90b93b07d778028dc765548e823f676fb027f61d281ac380d"))
	if err != nil {
		t.Fatal(err)
	}
	sum, _, err := v1.SHA256(bytes.NewReader(text))
	if err != nil || sum.Hex != "b671489ededd1a180bd87235bba00fd83354f9c7d13b71d9f8b66a8e52965ebc" {
		t.Errorf("the payload is %s, with the digest %s (%v)", text, sum, err)
	}
	// openssl dgst -sha256 -sign made this signature.
	file := filepath.Join(t.TempDir(), "key.pub")
	if err := os.WriteFile(file, []byte(`-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEUreufFkMA4DF/pgpfhrmuxQpIUlu
R4xaXWR1SnZaIU62Bcw5nxmU/lavKRp11xreEJxq8R/pG9jl09NXovL/8Q==
-----END PUBLIC KEY-----
`), 0o644); err != nil {
		t.Fatal(err)
	}
	key, err := ReadPublicKey(file)
	if err != nil {
		t.Fatal(err)
	}
	const signed = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	signature := "MEUCIQC9f6OX/J38px/55IKLxKUX8AHFFETfAZAU4sesJHgJ/AIgKkicPKh+TkZ7yh9ymzT6luseA9XrBtYE4srWUsC9rGw="
	payload := func(what, image string) []byte {
		return []byte(`{"critical":{"identity":{"docker-reference":"registry.example.com/team/kinds"},"image":{"docker-manifest-digest":"sha256:` +
			image + `"},"type":"` + what + `"},"optional":{"team":"a"}}`)
	}
	if err := checkSignature(key, payload(signatureOfImages, signed), signature, digest(signed)); err != nil {
		t.Error(err)
	}
	if err := checkSignature(key, payload("atomic container signature", signed), signature, digest(signed)); !errors.Is(err, errOtherKey) {
		t.Errorf("the error of another payload is %v", err)
	}
	mine := newKey(t)
	atomic := payload("atomic container signature", signed)
	if signature, err = signPayload(mine, atomic); err != nil {
		t.Fatal(err)
	}
	if err := checkSignature(&mine.PublicKey, atomic, signature, digest(signed)); !says(err, "and not of an image") {
		t.Errorf("the error of a signature of something else is %v", err)
	}
}

// TestKeys: which keys are read.
func TestKeys(t *testing.T) {
	key := newKey(t)
	sec1, err1 := x509.MarshalECPrivateKey(key)
	pkcs8, err2 := x509.MarshalPKCS8PrivateKey(key)
	public, err3 := x509.MarshalPKIXPublicKey(&key.PublicKey)
	large, err4 := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	p384, err5 := x509.MarshalECPrivateKey(large)
	p384Public, err6 := x509.MarshalPKIXPublicKey(&large.PublicKey)
	if err := errors.Join(err5, err6); err != nil {
		t.Fatal(err)
	}
	encode := func(name string, data []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: name, Bytes: data}))
	}
	file := filepath.Join(t.TempDir(), "key")
	for _, tt := range []struct{ text, private, public string }{
		{encode("EC PARAMETERS", []byte("x")) + encode("EC PRIVATE KEY", sec1), "", "and not a PUBLIC KEY"},
		{encode("PRIVATE KEY", pkcs8), "", "and not a PUBLIC KEY"},
		{encode("PUBLIC KEY", public), "and not a private key", ""},
		{encode("ENCRYPTED SIGSTORE PRIVATE KEY", pkcs8), "run cosign sign", "and not a PUBLIC KEY"},
		{encode("EC PRIVATE KEY", p384), "only ECDSA keys with the curve P-256", "and not a PUBLIC KEY"},
		{encode("PUBLIC KEY", p384Public), "and not a private key", "only ECDSA keys with the curve P-256"},
		{encode("PRIVATE KEY", nil), "reading the key", "and not a PUBLIC KEY"},
		{"text", "no key in PEM", "no key in PEM"},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPrivateKey(file); (tt.private == "") != (err == nil) || err != nil && !says(err, tt.private) {
			t.Errorf("%s as private key: %v", tt.text, err)
		}
		if _, err := ReadPublicKey(file); (tt.public == "") != (err == nil) || err != nil && !says(err, tt.public) {
			t.Errorf("%s as public key: %v", tt.text, err)
		}
	}
}

// packed is an archive of entries, compressed.
func packed(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var text bytes.Buffer
	gz, err := gzip.NewWriterLevel(&text, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(gz)
	zeros := make([]byte, 1<<20)
	for _, header := range entries {
		header.Mode = 0o644
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		for left := header.Size; left > 0; left -= int64(len(zeros)) {
			if _, err := w.Write(zeros[:min(left, int64(len(zeros)))]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// TestHostile: what an archive should not have is refused, also if it is signed.
func TestHostile(t *testing.T) {
	many := make([]tar.Header, MaxFiles+1)
	for i := range many {
		many[i] = tar.Header{Name: fmt.Sprintf("crds/%d", i)}
	}
	for _, tt := range []struct {
		says    string
		entries []tar.Header
	}{
		{"", []tar.Header{{Name: "crds/", Typeflag: tar.TypeDir}, {Name: "crds/a.yaml", Size: 3}}},
		{"must be relative", []tar.Header{{Name: "/crds/a.yaml"}}},
		{"must be relative", []tar.Header{{Name: "crds/../../a.yaml"}}},
		{"must be relative", []tar.Header{{Name: "../crds/a.yaml"}}},
		{"must be relative", []tar.Header{{Name: "./crds/a.yaml"}}},
		{"must be relative", []tar.Header{{Name: "crds//a.yaml"}}},
		{"must be relative", []tar.Header{{Name: "crds\\a.yaml"}}},
		{"must be relative", []tar.Header{{Name: "..", Typeflag: tar.TypeDir}}},
		{"accepted only in crds/, examples/, packed/, schemas/, templates/", []tar.Header{{Name: "bin/sh"}}},
		{"accepted only in", []tar.Header{{Name: "crds"}}},
		{"no links", []tar.Header{{Name: "crds/a.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}},
		{"no links", []tar.Header{{Name: "crds/a.yaml", Typeflag: tar.TypeLink, Linkname: "crds/b.yaml"}}},
		{"no links", []tar.Header{{Name: "crds/a.yaml", Typeflag: tar.TypeChar}}},
		{"no links", []tar.Header{{Name: "crds/a.yaml", Typeflag: tar.TypeFifo}}},
		{"twice", []tar.Header{{Name: "crds/a.yaml"}, {Name: "crds/a.yaml"}}},
		{"it has more than 67108864 bytes", []tar.Header{{Name: "crds/a.yaml", Size: MaxSize / 2}, {Name: "crds/b.yaml", Size: MaxSize}}},
		{"more than 10000 files", many},
	} {
		if _, err := unpackLayer(packed(t, tt.entries...)); (tt.says == "") != (err == nil) || err != nil && !says(err, tt.says) {
			t.Errorf("%+v: the error is %v; it should say %q", tt.entries[0], err, tt.says)
		}
	}
	for _, text := range [][]byte{nil, []byte("text"), packed(t), packed(t, tar.Header{Name: "crds/a.yaml", Size: 5000})[:40]} {
		if _, err := unpackLayer(text); err == nil {
			t.Errorf("%q is unpacked", text)
		}
	}
}

// FuzzUnpack: no archive panics, or names a file that is not in a root.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var text bytes.Buffer
		gz := gzip.NewWriter(&text)
		if _, err := gz.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := gz.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := unpackLayer(text.Bytes())
		for file := range files {
			if err == nil && !filepath.IsLocal(file) {
				t.Errorf("%q is unpacked", file)
			}
		}
	})
}

// TestTooMuch: what could not be pulled is not pushed.
func TestTooMuch(t *testing.T) {
	if _, err := (Files{"crds/a.yaml": make([]byte, MaxSize)}).Image(nil); !says(err, "that pull accepts") {
		t.Errorf("the error is %v", err)
	}
}

// TestWrite: files that are there are replaced only by force, and files of a
// folder that the image does not have are removed then; nothing else is touched.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("crds/as.yaml", "old")
	write("templates/as/old.yaml", "old")
	write("templates/as/.hidden", "mine")
	write("templates/as/tests/a/resource.yaml", "mine")
	write("templates/bs/b.yaml", "mine")
	files := Files{"crds/as.yaml": []byte("new"), "templates/as/new.yaml": []byte("new"), "templates/as/kind.yaml": nil}
	err := files.Write(dir, false)
	if !says(err, "nothing is written") || !says(err, "crds/as.yaml, templates/as/old.yaml; --force") {
		t.Errorf("the error is %v", err)
	}
	read := func() map[string]string {
		all := map[string]string{}
		err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(file)
			all[strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(dir)+"/")] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := read(); len(got) != 5 || got["crds/as.yaml"] != "old" {
		t.Errorf("the refused files were written: %v", got)
	}
	for range 2 { // the same files once more are no other files
		if err := files.Write(dir, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Write(dir, false); err != nil {
		t.Error(err)
	}
	want := map[string]string{"crds/as.yaml": "new", "templates/as/new.yaml": "new", "templates/as/kind.yaml": "",
		"templates/as/.hidden": "mine", "templates/as/tests/a/resource.yaml": "mine", "templates/bs/b.yaml": "mine"}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("something is left: %v %v", entries, err)
	}
}

// TestWriteThroughLink: a link in the root that leads out of it is not followed.
func TestWriteThroughLink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "crds")); err != nil {
		t.Skip(err)
	}
	if err := (Files{"crds/as.yaml": []byte("new")}).Write(dir, true); err == nil {
		t.Error("it was written through a link")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside is %v %v", entries, err)
	}
}

// TestPlainHTTP: the library's own fallback to plain HTTP is refused.
func TestPlainHTTP(t *testing.T) {
	for address, allowed := range map[string]bool{"http://192.0.2.1:1/v2/": false, "http://registry.local:1/v2/": false, "http://127.0.0.1:1/v2/": true,
		"http://localhost:1/v2/": true, "http://[::1]:1/v2/": true} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Registry{}.RoundTrip(request)
		if err == nil {
			answer.Body.Close()
		}
		if says(err, "--plain-http allows it") == allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
}
