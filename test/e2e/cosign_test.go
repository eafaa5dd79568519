package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/e2e/registry"
)

// A signing is a registry, and the programs that sign and verify what is in it.
type signing struct {
	host, dir string
}

func newSigning(t *testing.T) signing {
	t.Helper()
	for _, program := range []string{"cosign", "jacquard"} {
		if _, err := os.Stat(bin(program)); err != nil {
			absent(t, fmt.Sprintf("there is no %s: make e2e", bin(program)), true)
		}
	}
	r, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() }) //nolint:errcheck // the process ends too
	return signing{host: strings.TrimPrefix(r.URL(), "http://"), dir: t.TempDir()}
}

// run runs a program where there is nothing but a loopback registry.
func (s signing) run(program string, args ...string) (string, error) {
	path, err := filepath.Abs(bin(program))
	if err != nil {
		return "", err
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "COSIGN_PASSWORD=open", "HTTPS_PROXY=http://127.0.0.1:1")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%s %s: %w: %s", program, args[0], err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

func (s signing) must(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := s.run(program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// keys makes a key as openssl does, and returns the files of the private and the
// public one.
func keys(t *testing.T) (private, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err1 := x509.MarshalECPrivateKey(key)
	open, err2 := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	private, public = filepath.Join(dir, "kinds.key"), filepath.Join(dir, "kinds.pub")
	write(t, private, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})))
	write(t, public, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open})))
	return private, public
}

const signedKind = "websites.hosting.example.com"

var signedRoot = filepath.Join(repository, "examples", "kinds", "webhosting")

// TestCosignVerifies: cosign accepts what jacquard push signs, by this key and by
// no other.
func TestCosignVerifies(t *testing.T) {
	s := newSigning(t)
	private, public := keys(t)
	_, other := keys(t)
	image := s.must(t, "jacquard", "push", s.host+"/team/kinds:v1", signedKind, "--root", signedRoot, "--sign", private)
	verify := func(key string) error {
		_, err := s.run("cosign", "verify", "--key", key, "--insecure-ignore-tlog", "--allow-http-registry", image)
		return err
	}
	if err := verify(public); err != nil {
		t.Error(err)
	}
	if err := verify(other); err == nil || !strings.Contains(err.Error(), "no matching signatures") {
		t.Errorf("with another key: %v", err)
	}
}

// TestCosignSigns: jacquard pull accepts what cosign signs as docs/tools.md says,
// and tells of it if cosign signed in its other format.
func TestCosignSigns(t *testing.T) {
	s := newSigning(t)
	s.must(t, "cosign", "generate-key-pair", "--output-key-prefix", filepath.Join(s.dir, "cosign"))
	key, public := filepath.Join(s.dir, "cosign.key"), filepath.Join(s.dir, "cosign.pub")
	image := s.must(t, "jacquard", "push", s.host+"/team/kinds:v1", signedKind, "--root", signedRoot)
	pull := func() error {
		_, err := s.run("jacquard", "pull", image, "--verify", public, "--root", filepath.Join(s.dir, "root"))
		return err
	}
	command := "cosign sign --new-bundle-format=false --use-signing-config=false --tlog-upload=false --key cosign.key REF@DIGEST\n"
	if !strings.Contains(read(t, filepath.Join(repository, "docs", "tools.md")), command) {
		t.Errorf("docs/tools.md does not have the command that is tried here: %s", command)
	}
	if err := pull(); err == nil || !strings.Contains(err.Error(), "cosign sign --new-bundle-format=false") {
		t.Errorf("before it is signed: %v", err)
	}
	args := strings.Fields(strings.TrimSuffix(command, "cosign.key REF@DIGEST\n"))[1:]
	args = append(args, key, "--yes", "--allow-http-registry", image)
	s.must(t, "cosign", args...)
	if err := pull(); err != nil {
		t.Error(err)
	}
	s.must(t, "cosign", "verify", "--key", public, "--insecure-ignore-tlog", "--allow-http-registry", image)
}
