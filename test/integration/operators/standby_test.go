package operators

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// asOperator makes the test's binary the operator's.
const asOperator = "JACQUARD_TEST_OPERATOR"

// A pair is a kind and two replicas that serve it, of which the first leads.
type pair struct {
	*testing.T
	group, ns, root string
	home            string // the operator's own namespace
	access          *kit.Access
	kubeconfig      string
	first, second   *replica
}

// A replica is a process.
type replica struct {
	cmd   *exec.Cmd
	log   *processLog
	probe string
	ended sync.Once
}

// newPair makes a kind with two ConfigMaps, and further files of its folder.
func newPair(t *testing.T, name string, more map[string]string) *pair {
	t.Helper()
	p := &pair{T: t, group: name + ".example.com", ns: cluster.Namespace(t), home: cluster.Namespace(t), root: t.TempDir()}
	crd := kit.ThingCRD(p.group)
	child := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {text: {{ .spec.text }}}\n"
	kit.Write(t, p.root, map[string]string{
		"crds/" + p.name() + ".yaml":           crd,
		"templates/" + p.name() + "/one.yaml":  fmt.Sprintf(child, "{{ .metadata.name }}"),
		"templates/" + p.name() + "/more.yaml": fmt.Sprintf(child, "{{ .metadata.name }}-more"),
	})
	for file, text := range more {
		kit.Write(t, p.root, map[string]string{"templates/" + p.name() + "/" + file: text})
	}
	cluster.Apply(t, "", crd)
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", p.name()) })
	cluster.Served(t, p.apiVersion(), "Thing")
	p.access, p.kubeconfig = cluster.Access(t), filepath.Join(t.TempDir(), "kubeconfig")
	p.access.Serve(controller.Options{Namespace: p.home, Identity: p.home + "/jacquard", LeaderElectionNamespace: p.home}, p.root)
	p.connect()
	p.first = p.start()
	p.await("the first leads", func() error {
		if p.leader() == "" {
			return errors.New("nobody does")
		}
		return nil
	})
	return p
}

func (p *pair) name() string       { return "things." + p.group }
func (p *pair) apiVersion() string { return p.group + "/v1" }

// connect writes the kubeconfig of the pair's own account: what it sends is told
// from what the pairs of other tests send, whose rights end with their tests.
func (p *pair) connect() {
	p.Helper()
	c, as := clientcmdapi.NewConfig(), p.access.Config
	c.Clusters["test"] = &clientcmdapi.Cluster{Server: as.Host, CertificateAuthority: as.CAFile, CertificateAuthorityData: as.CAData}
	c.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: as.BearerToken}
	c.Contexts["test"], c.CurrentContext = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}, "test"
	if err := clientcmd.WriteToFile(*c, p.kubeconfig); err != nil {
		p.Fatal(err)
	}
}

func (p *pair) await(what string, check func() error) {
	p.Helper()
	kit.Eventually(p.T, what, check)
}

// start starts a replica and waits until it is ready.
func (p *pair) start() *replica {
	p.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.Fatal(err)
	}
	r := &replica{probe: listener.Addr().String(), log: &processLog{}}
	listener.Close()
	self, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	args := []string{"run", "--buckets", "0", "--kubeconfig", p.kubeconfig, "--root", p.root, "--operator-namespace", p.home,
		"--leader-election-namespace", p.home, "--health-probe-bind-address", r.probe}
	if os.Getenv("LEASE") != "default" { // a killed leader's Lease is waited for, and on a busy machine the leader must not lose it before
		args = append(args, "--leader-elect-lease-duration", "12s", "--leader-elect-renew-deadline", "10s", "--leader-elect-retry-period",
			"500ms")
	}
	r.cmd = exec.Command(self, args...)
	// lists are in the audit log when they are done, watches when they end
	r.cmd.Env = append(os.Environ(), asOperator+"=1", "KUBE_FEATURE_WatchListClient=false")
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	if err := r.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		r.end(syscall.SIGKILL) //nolint:errcheck // it is ended on purpose
		if p.Failed() {
			p.Log(r.log.String())
		}
	})
	p.await("the replica is ready", func() error {
		answer, err := http.Get("http://" + r.probe + "/readyz")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		return nil
	})
	return r
}

// end sends a signal and waits until the process is gone.
func (r *replica) end(with syscall.Signal) (err error) {
	r.ended.Do(func() {
		if err = r.cmd.Process.Signal(with); err == nil {
			err = r.cmd.Wait()
		}
	})
	return err
}

// A processLog is written by a process and read meanwhile.
type processLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *processLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns what was written so far.
func (l *processLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// follow starts the second replica and waits until it watches what the first
// does.
func (p *pair) follow() {
	p.Helper()
	watches := func(mark int64) map[string]bool {
		all := map[string]bool{}
		for _, r := range cluster.AllRequests(p, mark) {
			if r.User == p.access.User() && r.Namespace == "" && (r.Verb == "watch" || r.Verb == "list") {
				all[r.Resource] = true
			}
		}
		return all
	}
	mark := cluster.Mark(p)
	p.second = p.start()
	p.await("the second replica watches", func() error {
		if got := watches(mark); !got["things"] || !got["configmaps"] || !got["apiservices"] {
			return fmt.Errorf("it watches %v", got)
		}
		return nil
	})
	p.awaitQuiet()
}

// awaitQuiet waits until the replicas have nothing left to do: they send nothing any more,
// and nothing of theirs changes.
func (p *pair) awaitQuiet() {
	p.Helper()
	mark := cluster.Mark(p)
	cluster.AwaitQuiet(p, func() (string, error) {
		sent := slices.DeleteFunc(cluster.Requests(p, mark), func(r kit.Request) bool { return r.User != p.access.User() })
		return fmt.Sprintf("%d requests, %s", len(sent), p.versions()), nil
	})
}

func (p *pair) apply(name, text string) {
	p.Helper()
	cluster.Apply(p, p.ns, fmt.Sprintf("apiVersion: %s\nkind: Thing\nmetadata: {name: %s}\nspec: {text: %s}\n", p.apiVersion(), name, text))
}

func (p *pair) ready(names ...string) {
	p.Helper()
	for _, name := range names {
		p.await(name+" is Ready", func() error { return cluster.Ready(p.apiVersion(), "Thing", p.ns, name) })
	}
}

// leader is who holds the Lease, or "".
func (p *pair) leader() string {
	p.Helper()
	return leaseHolder(p, p.home, "jacquard")
}

// killFirst kills the first replica, and lets the next one lead without waiting for its Lease.
func (p *pair) killFirst() {
	p.Helper()
	if err := p.first.end(syscall.SIGKILL); err == nil {
		p.Error("it was not killed")
	}
	p.awaitQuiet()
	releaseLease(p, p.home, "jacquard")
}

// versions are the resource versions of everything in the namespace that an
// operator writes.
func (p *pair) versions() string {
	p.Helper()
	var b strings.Builder
	for _, of := range [][2]string{{"v1", "ConfigMap"}, {p.apiVersion(), "Thing"}} {
		for _, o := range cluster.List(p, of[0], of[1], client.InNamespace(p.ns)) {
			fmt.Fprintln(&b, of[1], o.GetName(), o.GetResourceVersion())
		}
	}
	return b.String()
}
