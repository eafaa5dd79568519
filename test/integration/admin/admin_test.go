package admin

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A site is a test's own kind Web, its folder, and two namespaces: that of its
// resources and the operator's.
type site struct {
	*testing.T
	group, namespace, home, root string
	operator                     *kit.Operator
}

var sites atomic.Int64

// lay writes a folder and installs its CRD. In the texts NS stands for the
// namespace, GROUP for the group.
func lay(t *testing.T, files map[string]string) *site {
	t.Helper()
	s := &site{T: t, group: fmt.Sprintf("admin%d.example.com", sites.Add(1)), namespace: cluster.Namespace(t), home: cluster.Namespace(t),
		root: t.TempDir()}
	s.write(files)
	s.apply(kit.WebCRD)
	cluster.Served(t, s.group+"/v1", "Web")
	return s
}

func (s *site) name() string { return "webs." + s.group }

func (s *site) fill(text string) string {
	return strings.NewReplacer("GROUP", s.group, "NS", s.namespace).Replace(text)
}

func (s *site) write(files map[string]string) {
	s.Helper()
	placed := map[string]string{}
	for name, text := range files {
		placed["templates/"+s.name()+"/"+name] = s.fill(text)
	}
	kit.Write(s, s.root, placed)
}

// apply applies documents as a person would.
func (s *site) apply(text string) {
	s.Helper()
	cluster.Apply(s, s.namespace, s.fill(text))
}

// web applies a resource with this spec, in flow style.
func (s *site) web(name, spec string) {
	s.Helper()
	s.apply(fmt.Sprintf("{apiVersion: GROUP/v1, kind: Web, metadata: {name: %s}, spec: {%s}}", name, spec))
}

// start starts an operator in the site's home, with leader election.
func (s *site) start(change func(*controller.Options)) {
	s.Helper()
	s.operator = cluster.Run(s.T, func(o *controller.Options) {
		o.Namespace, o.Identity, o.Version = s.home, s.home+"/jacquard", "v0-test"
		o.LeaderElectionNamespace = s.home
		if change != nil {
			change(o)
		}
	}, s.root)
}

func (s *site) is(name, condition, status, part string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%s: %s is %s", name, condition, status), func() error {
		o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, name)
		if err != nil {
			return err
		}
		return kit.IsCondition(o, condition, status, part)
	})
}

// An answer is what a command said.
type answer struct {
	code           int
	stdout, stderr string
}

func (a answer) all() string { return a.stdout + a.stderr }

// as runs a command as a user.
func (s *site) as(user string, args ...string) answer {
	s.Helper()
	var stdout, stderr bytes.Buffer
	args = append(args, "--kubeconfig", filepath.Join(cluster.Dir, user+".kubeconfig"))
	code := cli.Main(args, strings.NewReader(""), &stdout, &stderr)
	return answer{code, stdout.String(), stderr.String()}
}
