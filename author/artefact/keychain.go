package artefact

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/cli/cli/config/credentials"
	"github.com/docker/cli/cli/config/types"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// A keychain finds credentials in the configuration of docker or podman, in podman's order:
// the helper of the registry, the helper of all registries, the file itself. The keychain of
// the library does not: it asks the helper of all registries first, and fails where that
// is not installed.
type keychain struct {
	// warn is called for each helper that is configured and not installed.
	warn func(error)
}

// Resolve returns the credentials for a repository, or authn.Anonymous.
func (k keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	file, err := credentialsFile()
	if err != nil || file == nil {
		return authn.Anonymous, err
	}
	registry := credentialsKey(target.RegistryStr())
	for _, helper := range []string{file.CredentialHelpers[registry], file.CredentialsStore} {
		if helper == "" {
			continue
		}
		program := "docker-credential-" + helper
		if _, err := exec.LookPath(program); err != nil {
			k.warn(fmt.Errorf("%s: the credential helper %s is not in PATH, and is not asked for %s", file.Filename, program, registry))
			continue
		}
		found, err := credentials.NewNativeStore(file, helper).Get(registry)
		if err != nil {
			return nil, fmt.Errorf("asking the credential helper %s of %s for %s: %w", program, file.Filename, registry, err)
		}
		if auth := authenticatorOf(found); auth != authn.Anonymous {
			return auth, nil
		}
	}
	// The entry of a repository wins over that of its registry.
	for key := target.String(); ; key = key[:strings.LastIndexByte(key, '/')] {
		found, err := credentials.NewFileStore(file).Get(credentialsKey(key))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file.Filename, err)
		}
		if auth := authenticatorOf(found); auth != authn.Anonymous || !strings.Contains(key, "/") {
			return auth, nil
		}
	}
}

// credentialsKey is the name of a registry in configuration files.
func credentialsKey(registry string) string {
	if registry == name.DefaultRegistry {
		return authn.DefaultAuthKey
	}
	return registry
}

// authenticatorOf returns authn.Anonymous for credentials that are empty.
func authenticatorOf(found types.AuthConfig) authn.Authenticator {
	all := authn.AuthConfig{Username: found.Username, Password: found.Password, Auth: found.Auth,
		IdentityToken: found.IdentityToken, RegistryToken: found.RegistryToken}
	if all == (authn.AuthConfig{}) {
		return authn.Anonymous
	}
	return authn.FromConfig(all)
}

// credentialsFile reads the first file that is there: that of docker, that of REGISTRY_AUTH_FILE,
// those of podman. It returns nil if there is none.
func credentialsFile() (*configfile.ConfigFile, error) {
	docker := os.Getenv(config.EnvOverrideConfigDir)
	if docker == "" {
		docker = config.Dir()
	}
	paths := []string{filepath.Join(docker, config.ConfigFileName), os.Getenv("REGISTRY_AUTH_FILE")}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		paths = append(paths, filepath.Join(dir, "containers", "auth.json"))
	}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = append(paths, filepath.Join(dir, "containers", "auth.json"))
	}
	for _, path := range paths {
		if about, err := os.Stat(path); err != nil || about.IsDir() {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("reading credentials: %w", err)
		}
		defer f.Close()
		file := configfile.New(path)
		if err := file.LoadFromReader(f); err != nil {
			return nil, fmt.Errorf("reading the credentials of %s: %w", path, err)
		}
		return file, nil
	}
	return nil, nil
}
