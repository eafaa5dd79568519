//go:build !operator

package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"
)

// withRegistry gives a script a registry of its own, $REGISTRY, and the keys
// kinds.key, kinds.pub and other.pub.
func withRegistry(env *testscript.Env) error {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	env.Defer(server.Close)
	env.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
	for _, file := range []string{"kinds", "other"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		private, err1 := x509.MarshalECPrivateKey(key)
		public, err2 := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err := errors.Join(err1, err2, writePEM(env, file+".key", "EC PRIVATE KEY", private), writePEM(env, file+".pub", "PUBLIC KEY", public)); err != nil {
			return err
		}
	}
	return nil
}

func writePEM(env *testscript.Env, file, kind string, data []byte) error {
	return os.WriteFile(filepath.Join(env.WorkDir, file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600)
}

// TestPush runs testdata/registry: scripts with a registry.
func TestPush(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/registry",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			return errors.Join(withRegistry(env), addMissing(env.WorkDir, os.DirFS("testdata/root")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}
