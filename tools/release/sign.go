package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A signer signs with a key of cosign's, without any server. One without a key
// signs nothing.
type signer struct {
	cosign string // the program
	key    string // file of the private key; COSIGN_PASSWORD is its password
}

// alone are files, by the flags that take them, that say that no server takes part
// in a signature. Without them cosign asks sigstore's servers which do.
var alone = map[string]string{
	"--signing-config": `{"mediaType":"application/vnd.dev.sigstore.signingconfig.v0.2+json"}`,
	"--trusted-root":   `{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"}`,
}

// checkKey refuses to begin if the key cannot be used.
func (s signer) checkKey() error {
	if s.key == "" {
		return nil
	}
	_, err := s.run("public-key", "--key", s.key)
	return err
}

// signFile signs a file, and writes the signature and the public key beside it. The signature is
// another one each time. Nothing else of a release is.
func (s signer) signFile(file string) error {
	if s.key == "" {
		return nil
	}
	public, err := s.run("public-key", "--key", s.key)
	if err != nil {
		return err
	}
	beside := filepath.Join(filepath.Dir(file), publicKey)
	if err := os.WriteFile(beside, public, 0o644); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sign-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it holds nothing secret
	bundle := filepath.Join(filepath.Dir(file), signature)
	args := []string{"sign-blob", "--yes", "--key", s.key, "--bundle", bundle, file}
	for flag, text := range alone {
		config := filepath.Join(dir, flag)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			return err
		}
		args = append(args, flag, config)
	}
	if _, err := s.run(args...); err != nil {
		return err
	}
	if err := os.Chmod(bundle, 0o644); err != nil {
		return err
	}
	_, err = s.run("verify-blob", "--key", beside, "--insecure-ignore-tlog", "--bundle", bundle, file)
	return err
}

// run runs cosign and returns what it prints.
func (s signer) run(args ...string) ([]byte, error) {
	cmd := exec.Command(s.cosign, args...)
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("cosign %s: %w: %s", args[0], err, says.Bytes())
	}
	return out.Bytes(), nil
}
