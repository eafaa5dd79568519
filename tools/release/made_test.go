package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// made is a release that holds what this program itself is, built for another
// platform.
func made(t *testing.T) *release {
	t.Helper()
	dir := t.TempDir()
	r := &release{version: "v1.2.3", root: root, output: filepath.Join(dir, "out"), work: dir, commit: "0123abc", time: commitTime,
		goes: "go1.26.0", digest: "sha256:" + strings.Repeat("a", 64)}
	p := platform{"linux", "arm64"}
	r.platforms, r.binaries = []platform{p}, map[platform]string{p: filepath.Join(dir, "binary")}
	r.imageBinaries = r.binaries
	build := exec.Command("go", "build", "-o", r.binaries[p], ".")
	build.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Mkdir(r.output, 0o755); err != nil {
		t.Fatal(err)
	}
	members := []member{{p.binaryName(), 0o755, read(t, r.binaries[p])}}
	if err := writeArchive(filepath.Join(r.output, p.archiveName()), r.time, members); err != nil {
		t.Fatal(err)
	}
	for _, write := range []func() error{r.writeImageBOM, func() error { return r.writeBinaryBOM(p) }, r.writeKrew, r.writeProvenance, r.writeSums} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// files are those of a release, by their names.
func (r *release) files(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(r.output)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, d := range entries {
		all[d.Name()] = string(read(t, filepath.Join(r.output, d.Name())))
	}
	return all
}

// modules are those that go version -m finds in a binary, each as NAME VERSION.
func modules(t *testing.T, binary string) []string {
	t.Helper()
	out, err := exec.Command("go", "version", "-m", binary).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == "dep" {
			found = append(found, words[1]+" "+words[2])
		}
	}
	if len(found) < 3 {
		t.Fatalf("go version -m finds %v", found)
	}
	return found
}

// TestMade: what is written twice is the same; the lists name every module, the
// checksums every file, and the manifest and the statement have these checksums.
func TestMade(t *testing.T) {
	r := made(t)
	files := r.files(t)
	if diff := cmp.Diff(files, made(t).files(t)); diff != "" {
		t.Error("two releases of one commit differ:\n", diff)
	}
	want := modules(t, r.binaries[r.platforms[0]])
	for _, name := range []string{"jacquard_linux_arm64.cdx.json", "jacquard_image.cdx.json"} {
		var list cdx.BOM
		if err := json.Unmarshal([]byte(files[name]), &list); err != nil {
			t.Fatal(err)
		}
		var got []string
		refs := map[string]bool{list.Metadata.Component.BOMRef: true}
		for _, c := range *list.Components {
			refs[c.BOMRef] = true
			if c.Type == cdx.ComponentTypeLibrary && c.Name != "std" {
				got = append(got, c.Name+" "+c.Version)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-go version -m +list):\n%s", name, diff)
		}
		for _, edge := range *list.Dependencies {
			for _, ref := range append(*edge.Dependencies, edge.Ref) {
				if !refs[ref] {
					t.Errorf("%s: nothing is called %s", name, ref)
				}
			}
		}
	}
	var summed []string
	for line := range strings.Lines(files[sums]) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if is, err := sumOf(filepath.Join(r.output, name)); err != nil || is != sum {
			t.Errorf("%s: the checksum is %s, not %s (%v)", name, is, sum, err)
		}
		summed = append(summed, name)
	}
	delete(files, sums)
	if all := slices.Sorted(maps.Keys(files)); !slices.Equal(summed, all) {
		t.Errorf("%v have checksums, of %v", summed, all)
	}
	r.checkKrew(t)
	r.checkProvenance(t)
}

func (r *release) checkKrew(t *testing.T) {
	t.Helper()
	var p plugin
	if err := yaml.UnmarshalStrict(read(t, filepath.Join(r.output, krew)), &p); err != nil {
		t.Fatal(err)
	}
	sum, err := sumOf(filepath.Join(r.output, "jacquard_linux_arm64.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	one := p.Spec.Platforms[0]
	if one.SHA256 != sum || one.URI != project+"/releases/download/v1.2.3/jacquard_linux_arm64.tar.gz" || len(p.Spec.Platforms) != 1 ||
		len(p.Spec.ShortDescription) > 50 {
		t.Errorf("krew is told %+v; the checksum is %s", p, sum)
	}
}

func (r *release) checkProvenance(t *testing.T) {
	t.Helper()
	var s statement
	if err := json.Unmarshal(read(t, filepath.Join(r.output, provenance)), &s); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, subject := range s.Subject {
		said[subject.Name] = subject.Digest["sha256"]
	}
	sum, err := sumOf(filepath.Join(r.output, krew))
	if err != nil {
		t.Fatal(err)
	}
	if said[krew] != sum || "sha256:"+said[imageName("v1.2.3")] != r.digest || len(said) != 5 {
		t.Errorf("the statement is about %v", said)
	}
	if source := s.Predicate.BuildDefinition.ResolvedDependencies[0]; source.Digest["gitCommit"] != r.commit || source.Annotations != nil {
		t.Errorf("the source is %+v", source)
	}
}

// TestSigned: cosign accepts the signature of the checksums, and refuses it after a
// byte of them was changed.
func TestSigned(t *testing.T) {
	cosign := os.Getenv("COSIGN") // make e2e gives it
	if cosign == "" {
		cosign, _ = filepath.Abs(filepath.Join(root, ".bin", "cosign"))
		if _, err := os.Stat(cosign); err != nil {
			t.Skip("there is no .bin/cosign: make cosign")
		}
	}
	// Nothing is asked of a server: this one is on the way to all.
	asked := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("cosign asks %s", r.Host)
	}))
	defer asked.Close()
	for _, proxy := range []string{"HTTPS_PROXY", "HTTP_PROXY"} {
		t.Setenv(proxy, asked.URL)
	}
	t.Setenv("COSIGN_PASSWORD", "open")
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	s := signer{cosign: cosign, key: filepath.Join(dir, "cosign.key")}
	if _, err := s.run("generate-key-pair", "--output-key-prefix", filepath.Join(dir, "cosign")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), sums)
	text := []byte(strings.Repeat("0", 64) + "  install.yaml\n")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.signFile(file); err != nil {
		t.Fatal(err)
	}
	verify := func() error {
		_, err := s.run("verify-blob", "--key", filepath.Join(filepath.Dir(file), publicKey), "--insecure-ignore-tlog",
			"--bundle", filepath.Join(filepath.Dir(file), signature), file)
		return err
	}
	if err := verify(); err != nil {
		t.Error(err)
	}
	text[7] ^= 1
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := verify(); err == nil || !strings.Contains(err.Error(), "signature") {
		t.Errorf("after a byte was changed: %v", err)
	}
	t.Setenv("COSIGN_PASSWORD", "wrong")
	if err := s.checkKey(); err == nil {
		t.Error("a key that cannot be opened is accepted")
	}
}
