package browser

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A site is a test's own kind Web, its folder, and two namespaces: that of its
// resources and the operator's.
type site struct {
	*testing.T
	group, namespace, home, root string
}

var sites atomic.Int64

// place makes the namespaces of a site. In its texts NS stands for the namespace, GROUP
// for the group.
func place(t *testing.T) *site {
	t.Helper()
	return &site{T: t, group: fmt.Sprintf("browser%d.example.com", sites.Add(1)), namespace: cluster.Namespace(t), home: cluster.Namespace(t),
		root: t.TempDir()}
}

// lay writes the folder of a site and installs its CRD.
func lay(t *testing.T, files map[string]string) *site {
	t.Helper()
	s := place(t)
	s.write(files)
	s.defines(kit.WebCRD)
	return s
}

// defines applies the CRD of the kind.
func (s *site) defines(crd string) {
	s.Helper()
	s.apply(crd)
	cluster.Served(s, s.group+"/v1", "Web")
}

func (s *site) kind() string { return "webs." + s.group }

func (s *site) fill(text string) string {
	return strings.NewReplacer("GROUP", s.group, "NS", s.namespace).Replace(text)
}

func (s *site) write(files map[string]string) {
	s.Helper()
	placed := map[string]string{}
	for name, text := range files {
		placed["templates/"+s.kind()+"/"+name] = s.fill(text)
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

// start starts an operator in the site's home, which keeps revisions there.
func (s *site) start() {
	s.Helper()
	cluster.Run(s.T, func(o *controller.Options) {
		o.Namespace, o.Identity, o.Version = s.home, s.home+"/jacquard", "v0-test"
		o.LeaderElectionNamespace, o.Buckets = s.home, replicas.Buckets
	}, s.root)
}

// is waits until a condition of a resource is so.
func (s *site) is(name, condition, status string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%s: %s is %s", name, condition, status), func() error {
		o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, name)
		if err != nil {
			return err
		}
		return kit.IsCondition(o, condition, status, "")
	})
}

// says waits until the CRD says how its kind is served.
func (s *site) says(state verdict.State) {
	s.Helper()
	s.state(s.kind(), state)
}

// state waits until the CRD of a kind says how it is served.
func (s *site) state(kind string, state verdict.State) {
	s.Helper()
	kit.Eventually(s, "the CRD "+kind+" says "+string(state), func() error {
		crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", kind)
		if err != nil {
			return err
		}
		if got := crd.GetAnnotations()[api.AnnotationState]; got != string(state) {
			return fmt.Errorf("it says %q", got)
		}
		return nil
	})
}

// route is the fragment of the page of a resource; more is its query.
func (s *site) route(name, more string) string {
	return "#/resource/" + s.kind() + "/" + s.namespace + "/" + name + more
}

// ui starts `jacquard ui` for the test, and returns the address that it prints.
func ui(t *testing.T, args ...string) string {
	t.Helper()
	address, _ := interruptible(t, args...)
	return address
}

// interruptible is ui with what interrupts it, which the end of the test does at the latest.
func interruptible(t *testing.T, args ...string) (address string, interrupt func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"ui", "--kubeconfig", filepath.Join(cluster.Dir, "admin.kubeconfig")}, args...)...)
	cmd.Args[0] = "jacquard"
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	interrupt = sync.OnceFunc(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("jacquard ui, interrupted: %v", err)
		}
	})
	t.Cleanup(interrupt)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("jacquard ui prints no address: ", err)
	}
	return strings.TrimSpace(line), interrupt
}

// config writes a kubeconfig whose only context has this name, beside the cluster's, and
// returns its path.
func (s *site) config(name string) string {
	s.Helper()
	config, err := clientcmd.LoadFromFile(filepath.Join(cluster.Dir, "admin.kubeconfig"))
	if err != nil {
		s.Fatal(err)
	}
	config.Contexts = map[string]*clientcmdapi.Context{name: config.Contexts[config.CurrentContext]}
	config.CurrentContext = name
	path := filepath.Join(s.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		s.Fatal(err)
	}
	return path
}
