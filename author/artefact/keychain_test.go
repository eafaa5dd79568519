package artefact

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
)

// helper is a credential helper that knows one registry.
const helper = `#!/bin/sh
read registry
[ "$registry" = "%s" ] || { echo credentials not found in native keychain; exit 1; }
echo '{"Username": "%s", "Secret": "x"}'
`

// TestKeychain: credentials are those that podman finds. A helper that is not installed is a
// warning, for public registries and for those with credentials elsewhere.
func TestKeychain(t *testing.T) {
	const file = `"auths": {"r.example.com": {"auth": "ZmlsZTp4"}, "r.example.com/team/a": {"auth": "cmVwb3NpdG9yeTp4"}}`
	for title, test := range map[string]struct {
		config, repository string
		want               string // the user, "" is anonymous
		warning            string
	}{
		"no configuration":       {``, "r.example.com/team/b", "", ""},
		"the file":               {`{` + file + `}`, "r.example.com/team/b", "file", ""},
		"the file, a repository": {`{` + file + `}`, "r.example.com/team/a", "repository", ""},
		"the file, below one":    {`{` + file + `}`, "r.example.com/team/a/b", "repository", ""},
		"another registry":       {`{` + file + `}`, "public.example.com/a", "", ""},
		"a missing helper of all registries, and no other": {
			`{"credsStore": "missing"}`, "r.example.com/team/b", "", "docker-credential-missing is not in PATH"},
		"a missing helper of all registries, and the registry's own": {
			`{"credsStore": "missing", "credHelpers": {"r.example.com": "one"}}`, "r.example.com/team/b", "one", ""},
		"a missing helper of all registries, and the file": {
			`{"credsStore": "missing", ` + file + `}`, "r.example.com/team/b", "file", "docker-credential-missing"},
		"a missing helper of the registry, and one of all": {
			`{"credsStore": "one", "credHelpers": {"r.example.com": "missing"}}`, "r.example.com/team/b", "one", "docker-credential-missing"},
		"the registry's own helper and one of all": {
			`{"credsStore": "other", "credHelpers": {"r.example.com": "one"}}`, "r.example.com/team/b", "one", ""},
		"a helper that knows nothing": {
			`{"credsStore": "one"}`, "public.example.com/a", "", ""},
	} {
		t.Run(title, func(t *testing.T) {
			dir := t.TempDir()
			for program, user := range map[string]string{"docker-credential-one": "one", "docker-credential-other": "other"} {
				if err := os.WriteFile(filepath.Join(dir, program), fmt.Appendf(nil, helper, "r.example.com", user), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if test.config != "" {
				if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(test.config), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			t.Setenv("DOCKER_CONFIG", dir)
			for _, variable := range []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"} {
				t.Setenv(variable, filepath.Join(dir, "none"))
			}
			user, warnings := resolved(t, test.repository)
			if user != test.want {
				t.Errorf("the user is %q, want %q", user, test.want)
			}
			if got := strings.Join(warnings, "\n"); (got != "") != (test.warning != "") || !strings.Contains(got, test.warning) {
				t.Errorf("the warnings are %q, want %q", got, test.warning)
			}
		})
	}
}

func resolved(t *testing.T, repository string) (user string, warnings []string) {
	t.Helper()
	target, err := name.NewRepository(repository)
	if err != nil {
		t.Fatal(err)
	}
	auth, err := keychain{func(err error) { warnings = append(warnings, err.Error()) }}.Resolve(target)
	if err != nil {
		t.Fatal(err)
	}
	found, err := auth.Authorization()
	if err != nil {
		t.Fatal(err)
	}
	return found.Username, warnings
}
