package replicas

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	division "github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// asOperator makes the test's binary the operator's.
const asOperator = "JACQUARD_TEST_OPERATOR"

// A fleet is an installation with several replicas, each a process with an account of its
// own, so that the audit log tells who wrote what.
type fleet struct {
	*testing.T
	cluster  *kit.Cluster
	buckets  int // of the replicas that start; 0: one of them serves all
	home     string
	root     string
	replicas []*replica
}

// A replica is a process.
type replica struct {
	cmd    *exec.Cmd
	log    *lockedBuffer
	access *kit.Access
	line   *line         // by which it reaches the API server
	gone   chan struct{} // closed at its end
}

// A lockedBuffer is written and read at the same time.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func newFleet(t *testing.T, c *kit.Cluster, files map[string]string) *fleet {
	t.Helper()
	f := &fleet{T: t, cluster: c, buckets: 16, home: c.Namespace(t), root: t.TempDir()}
	kit.Write(t, f.root, files)
	return f
}

// identity is that of the installation.
func (f *fleet) identity() string { return f.home + "/jacquard" }

// start starts one more replica, with further arguments.
func (f *fleet) start(args ...string) *replica {
	f.Helper()
	r := &replica{log: &lockedBuffer{}, gone: make(chan struct{}), access: f.cluster.Access(f.T)}
	r.access.Serve(controller.Options{Namespace: f.home, Identity: f.identity(), LeaderElectionNamespace: f.home, Buckets: f.buckets}, f.root)
	kubeconfig := filepath.Join(f.TempDir(), "kubeconfig")
	c, as := clientcmdapi.NewConfig(), r.access.Config
	r.line = newLine(f.T, strings.TrimPrefix(as.Host, "https://"))
	c.Clusters["test"] = &clientcmdapi.Cluster{Server: "https://" + r.line.Addr().String(), CertificateAuthority: as.CAFile, CertificateAuthorityData: as.CAData}
	c.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: as.BearerToken}
	c.Contexts["test"], c.CurrentContext = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}, "test"
	if err := clientcmd.WriteToFile(*c, kubeconfig); err != nil {
		f.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	r.cmd = exec.Command(self, append([]string{"run", "--kubeconfig", kubeconfig, "--root", f.root, "--operator-namespace", f.home,
		"--installation", f.identity(), "--leader-election-namespace", f.home, "--health-probe-bind-address", "0", "--buckets", strconv.Itoa(f.buckets)}, args...)...)
	r.cmd.Env = append(os.Environ(), asOperator+"=1")
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	if err := r.cmd.Start(); err != nil {
		f.Fatal(err)
	}
	go func() {
		defer close(r.gone)
		r.cmd.Wait() //nolint:errcheck // it is ended on purpose
	}()
	f.replicas = append(f.replicas, r)
	f.Cleanup(func() {
		r.end(syscall.SIGKILL)
		if f.Failed() {
			f.Logf("%s:\n%s", r.access.User(), r.log)
		}
	})
	return r
}

// end ends a replica by a signal, and waits for its end.
func (r *replica) end(by syscall.Signal) {
	r.signal(by)
	<-r.gone
}

// killReplica kills a replica, and deletes its Lease, so that the others need not wait until it
// runs out.
func (f *fleet) killReplica(r *replica) {
	f.Helper()
	r.end(syscall.SIGKILL)
	self := asReplica.FindStringSubmatch(r.log.String())
	if self == nil {
		f.Fatalf("%s serves nothing", r.access.User())
	}
	f.cluster.Delete(f, "coordination.k8s.io/v1", "Lease", f.home, self[1])
}

// asReplica finds the name of a replica's Lease in its log.
var asReplica = regexp.MustCompile(`"as":"([^"]+)"`)

func (r *replica) signal(what syscall.Signal) {
	r.cmd.Process.Signal(what) //nolint:errcheck // it may have ended
}

func (r *replica) lives() bool {
	select {
	case <-r.gone:
		return false
	default:
		return true
	}
}

// division reads who serves what.
func (f *fleet) division() (division.Division, error) {
	var lease coordinationv1.Lease
	err := f.cluster.Client.Get(f.Context(), client.ObjectKey{Namespace: f.home, Name: api.Lease(f.identity())}, &lease)
	if err != nil {
		return division.Division{}, err
	}
	d, ok := division.Parse(lease.Annotations[api.AnnotationDivision])
	if !ok {
		return d, errors.New("the Lease has no division")
	}
	return d, nil
}

// awaitDivided waits until n replicas have all buckets, and the leader serves no kind
// alone, and returns the division.
func (f *fleet) awaitDivided(n int) (d division.Division) {
	f.Helper()
	kit.Eventually(f.T, fmt.Sprintf("%d replicas divide all", n), func() (err error) {
		d, err = f.divided(n)
		return err
	})
	return d
}

// divided is the division, with an error unless n replicas have all buckets and the leader
// serves no kind alone.
func (f *fleet) divided(n int) (division.Division, error) {
	d, err := f.owned(n)
	if err == nil && len(d.Exclusive) > 0 {
		err = fmt.Errorf("exclusive are %v", d.Exclusive)
	}
	return d, err
}

// owned is the division, with an error unless n replicas have all buckets, even if the
// leader serves some kinds alone.
func (f *fleet) owned(n int) (division.Division, error) {
	d, err := f.division()
	if err != nil {
		return d, err
	}
	owners := slices.Compact(slices.Sorted(slices.Values(d.Owners)))
	if len(owners) != n || slices.Contains(owners, "") || d.Leader == "" {
		return d, fmt.Errorf("owners are %v, the leader is %q", owners, d.Leader)
	}
	return d, nil
}

// writes are the writes of objects of some kinds since a mark, by replicas of the fleet.
func (f *fleet) writes(mark int64, resources ...string) []kit.Request {
	f.Helper()
	users := map[string]bool{}
	for _, r := range f.replicas {
		users[r.access.User()] = true
	}
	return slices.DeleteFunc(kit.Writes(f.cluster.AllRequests(f.T, mark)), func(r kit.Request) bool {
		return r.Verb == "watch" || !users[r.User] || !slices.Contains(resources, r.Resource)
	})
}

// allReady waits until every resource of a kind is ready for its newest generation.
func (f *fleet) allReady(apiVersion, kind string, n int) {
	f.Helper()
	kit.Eventually(f.T, fmt.Sprintf("all %d of kind %s are ready", n, kind), func() error { return f.unready(apiVersion, kind, n) })
}

// unready says which resources of n are not ready; nil if all are.
func (f *fleet) unready(apiVersion, kind string, n int) error {
	var late []string
	all := f.cluster.List(f.T, apiVersion, kind)
	for i := range all {
		if kit.IsCondition(&all[i], "Ready", "True", "") != nil || observed(all[i].Object) != all[i].GetGeneration() {
			late = append(late, all[i].GetNamespace()+"/"+all[i].GetName())
		}
	}
	if len(late) > 0 || len(all) != n {
		return fmt.Errorf("of %d resources %d are not: %s", len(all), len(late), strings.Join(late[:min(5, len(late))], ", "))
	}
	return nil
}

func observed(o map[string]any) int64 {
	status, _ := o["status"].(map[string]any)
	n, _ := status["observedGeneration"].(int64)
	return n
}

// since is a moment's distance in a log.
func since(t time.Time) string { return time.Since(t).Round(10 * time.Millisecond).String() }
