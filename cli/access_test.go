//go:build !operator

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

const (
	someClusters = "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
	someUsers    = "users: [{name: u, user: {}}]\n"
)

// TestKubeconfig: who reaches no cluster is told what is wrong with the kubeconfig, which files
// were read or are missing, and which contexts they have.
func TestKubeconfig(t *testing.T) {
	for name, test := range map[string]struct {
		// files are their texts by name; "home" is ~/.kube/config.
		files map[string]string
		// env is KUBECONFIG, in which DIR is the directory.
		env, kubeconfig, context string
		want                     []string
	}{
		"no file": {want: []string{"there is no kubeconfig", "--kubeconfig", "KUBECONFIG", "DIR/home is missing"}},
		"KUBECONFIG is missing": {
			env:  "DIR/none",
			want: []string{"there is no kubeconfig", "DIR/none is missing"},
		},
		"an empty file": {
			files: map[string]string{"one": ""}, kubeconfig: "DIR/one",
			want: []string{"no kubeconfig has a context, and there is no Pod's service account", "DIR/one has no context"},
		},
		"KUBECONFIG is not read because of the flag": {
			files: map[string]string{"one": someClusters, "two": someUsers}, env: "DIR/two", kubeconfig: "DIR/one",
			want: []string{"DIR/one has no context; KUBECONFIG is not read, because of --kubeconfig"},
		},
		"~/.kube/config is not read": {
			files: map[string]string{"home": someClusters}, env: "DIR/none",
			want: []string{"DIR/none is missing", "DIR/home is not read, because of KUBECONFIG"},
		},
		"~/.kube/config is not read because of the flag": {
			files: map[string]string{"home": someClusters}, kubeconfig: "DIR/none", env: "DIR/other",
			want: []string{"DIR/none is missing", "DIR/home is not read, because of --kubeconfig"},
		},
		"no current-context": {
			files: map[string]string{"home": someClusters + someUsers + "contexts: [{name: b, context: {cluster: c, user: u}}, {name: a, context: {cluster: c, user: u}}]"},
			want:  []string{"no context is chosen", "--context", "DIR/home has the contexts a, b, and no current-context"},
		},
		"no such context": {
			files:   map[string]string{"home": someClusters + "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]"},
			context: "nope",
			want:    []string{`there is no context "nope"`, "DIR/home has the context a (current: a)"},
		},
		"the cluster is missing": {
			files: map[string]string{"home": someUsers + "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]"},
			want:  []string{`the context "a" names the cluster "c", which no kubeconfig has`, "DIR/home has the context a"},
		},
		"no cluster is named": {
			files: map[string]string{"home": someUsers + "current-context: a\ncontexts: [{name: a, context: {user: u}}]"},
			want:  []string{`the context "a" names no cluster`},
		},
		"the user is missing": {
			files: map[string]string{"one": someClusters + "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]"},
			env:   "DIR/one:DIR/two",
			want:  []string{`the context "a" names the user "u", which no kubeconfig has`, "DIR/one has the context a (current: a); DIR/two is missing"},
		},
		"a part by --kubeconfig": {
			files:      map[string]string{"one": someClusters, "home": someUsers},
			kubeconfig: "DIR/one",
			want:       []string{"no kubeconfig has a context", "DIR/one has no context", "DIR/home is not read, because of --kubeconfig"},
		},
		"a file of another format": {
			files: map[string]string{"home": "- a list\n"},
			want:  []string{"DIR/home"},
		},
		"several parts": {
			files: map[string]string{"one": someClusters, "two": someUsers, "three": "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]"},
			env:   "DIR/one:DIR/two:DIR/three",
		},
		"without credentials": {
			files: map[string]string{"home": someClusters + "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			here := func(text string) string { return strings.ReplaceAll(text, "DIR", dir) }
			for file, text := range test.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte("apiVersion: v1\nkind: Config\n"+text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("KUBECONFIG", here(test.env))
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			before := clientcmd.RecommendedHomeFile
			t.Cleanup(func() { clientcmd.RecommendedHomeFile = before })
			clientcmd.RecommendedHomeFile = filepath.Join(dir, "home")
			_, err := (&access{kubeconfig: here(test.kubeconfig), context: test.context}).clientConfig()
			if (err != nil) != (test.want != nil) {
				t.Fatalf("got %v", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), here(part)) {
					t.Errorf("%q does not say %q", err, here(part))
				}
			}
			if err != nil && strings.Contains(err.Error(), "KUBERNETES_MASTER") {
				t.Errorf("%q names what nothing reads", err)
			}
		})
	}
}

// TestLiveWithoutContext: a context that does not exist is all that `jacquard test --live` reports.
func TestLiveWithoutContext(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var stdout, stderr bytes.Buffer
	code := Main([]string{"test", "--root", "..", "--live", "--context", "nope"}, strings.NewReader(""), &stdout, &stderr)
	if code != exitFailed || stdout.Len() > 0 || !strings.Contains(stderr.String(), "no kubeconfig has a context") {
		t.Errorf("exit %d:\n%s%s", code, &stdout, &stderr)
	}
}
