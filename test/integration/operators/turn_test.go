package operators

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// Commits of operators that are upgraded from.
const (
	// earlier is gone back to as well.
	earlier = "ac11718516d310922b012e104027259c1b5633b9"
	// withoutRevisions keeps no revisions of folders.
	withoutRevisions = "dba9afcf87c667d3ee2a79f6be6aa75a61b30640"
)

// programOf returns the operator of an earlier commit.
func programOf(t *testing.T, commit string) string {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := gitIn(root, "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		why := fmt.Sprintf("this clone has no commit %s to upgrade from: `git fetch --unshallow` gets it", commit)
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	program, err := builds[commit]()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// gitIn is a command of git, whoever owns the clone.
func gitIn(root string, args ...string) *exec.Cmd {
	return exec.Command("git", append([]string{"-c", "safe.directory=*", "-C", root}, args...)...)
}

// builds build the commits, each once.
var builds = map[string]func() (program string, err error){
	earlier:          sync.OnceValues(func() (string, error) { return buildCommit(earlier) }),
	withoutRevisions: sync.OnceValues(func() (string, error) { return buildCommit(withoutRevisions) }),
}

// buildCommit builds the operator of a commit beside the cluster's files.
func buildCommit(commit string) (program string, err error) {
	root, err := kit.Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cluster.Dir, commit)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	compile := exec.Command("go", "build", "-o", "jacquard", ".")
	compile.Dir = dir
	for _, command := range []*exec.Cmd{
		gitIn(root, "archive", "--output", filepath.Join(dir, "commit.tar"), commit),
		exec.Command("tar", "-xf", filepath.Join(dir, "commit.tar"), "-C", dir),
		compile,
	} {
		if out, err := command.CombinedOutput(); err != nil {
			return "", fmt.Errorf("running %v: %w: %s", command.Args, err, out)
		}
	}
	return filepath.Join(dir, "jacquard"), nil
}

// line are the options of one operator, whose version changes.
func (s *site) line() controller.Options {
	s.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(cluster.Dir, "operator.kubeconfig"))
	if err != nil {
		s.Fatal(err)
	}
	return controller.Options{Config: cfg, Identity: s.namespace + "/upgraded", LeaderElectionNamespace: s.namespace}
}

// upgraded runs this version of the operator; stop ends it.
func (s *site) upgraded(with ...func(*controller.Options)) (stop func()) {
	s.Helper()
	line := s.line()
	line.Roots = []*folder.Root{s.root}
	op := cluster.Run(s, func(o *controller.Options) {
		line.Lease = o.Lease
		*o = line
		for _, more := range with {
			more(o)
		}
	}, s.dir)
	return func() { op.Stop(s) }
}

// process runs another version of it.
func (s *site) process(program string) (stop func()) {
	s.Helper()
	cmd, stopped := s.startProgram(program, s.line()), false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			s.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			s.Errorf("the earlier operator ended: %v", err)
		}
	}
	s.Cleanup(stop)
	return stop
}

// startProgram starts another version of it.
func (s *site) startProgram(program string, o controller.Options) *exec.Cmd {
	s.Helper()
	cmd := exec.Command(program, "run", "--kubeconfig", filepath.Join(cluster.Dir, "operator.kubeconfig"), "--root", s.dir,
		"--identity", o.Identity, "--leader-election-namespace", o.LeaderElectionNamespace, "--health-probe-bind-address", "0")
	if os.Getenv("OPERATOR_LOG") != "" {
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	return cmd
}

// sentOf are the operators' writes since mark of what belongs to this site, but
// for what belongs to one resource.
func (s *site) sentOf(mark int64, but string) (all []kit.Request) {
	s.Helper()
	for _, r := range kit.Writes(cluster.Requests(s, mark)) {
		if (r.Namespace == s.namespace || strings.HasPrefix(r.Name, s.namespace)) && (but == "" || !strings.Contains(r.Name, but)) {
			all = append(all, r)
		}
	}
	return all
}

// serve waits until resources are Ready, "a" and its objects have a text, and
// nothing of the site is written any more.
func (s *site) serve(names []string, text string) {
	s.Helper()
	for _, name := range names {
		kit.Eventually(s, name+" is Ready", func() error { return cluster.Ready(s.apiVersion(), "Web", s.namespace, name) })
	}
	for _, name := range []string{"map-a", "second"} {
		kit.Eventually(s, name+" says "+text, func() error {
			o, err := cluster.Get("v1", "ConfigMap", s.namespace, name)
			if err != nil {
				return err
			}
			data, _, _ := unstructured.NestedStringMap(o.Object, "data")
			if data["text"] != text && data["ours"] != text {
				return fmt.Errorf("it says %v", data)
			}
			return nil
		})
	}
	mark := cluster.Mark(s)
	cluster.AwaitQuiet(s, func() (string, error) { return fmt.Sprint(s.sentOf(mark, "")), nil })
}

// spares fails if since mark anything was written more often than expected,
// beside one status of each resource, the mark of its Secret, and what belongs to
// one of them.
func (s *site) spares(mark int64, but string, most int) {
	s.Helper()
	n := map[string]int{}
	for _, r := range s.sentOf(mark, but) {
		what := r.Verb + " " + r.Resource + " " + r.Name
		limit := most
		if r.Resource == "webs/status" || r.Resource == "secrets" { // this version marks drawn ones
			limit++
		}
		if n[what]++; n[what] == limit+1 {
			s.Errorf("written more than %d times: %v", limit, r)
		}
	}
}
