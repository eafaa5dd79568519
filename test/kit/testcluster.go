// Package kit gives tests a real Kubernetes and a running operator.
// Tests assert on the state of the cluster; the one exception is how many
// requests the operator sent, counted in the API server's audit log.
package kit

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// User is a user with a static token, for operators that run as a process of
// their own. It has no rights but those that Let gives it.
const User = "jacquard-operator"

// A Cluster is a running dev cluster: the control plane, its controllers and
// simulated nodes, each its own process.
type Cluster struct {
	// Dir holds kubeconfig, audit.log and log/.
	Dir string
	// Config is the admin's access.
	Config *rest.Config
	// Client is the admin's.
	Client client.WithWatch
	stdin  io.Closer
	cmd    *exec.Cmd
	defined
	settled  sync.Once // the namespace of the accounts
	admitted sync.Map  // the uids of CRDs that all admission knows
	printed  printed
	marks    marks
	parts    sync.Map // process ids by the part's name
}

// Root is the repository's root, found upwards from the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, gone := os.Stat(filepath.Join(dir, "devcluster")); gone == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("finding the repository's root: there is no devcluster/ above the working directory")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// Log receives what the operator logs, and what its clients log. A package
// that looks into it sets it before Main.
var Log io.Writer

// GuardOwners makes the API server check the right to block an owner's deletion,
// which by default it does not. It does so by what its discovery said at most ten
// seconds ago, so that tests of kinds made a moment ago have to wait. A package
// that wants it sets it before Main.
var GuardOwners bool

// Main starts a cluster for the tests of a package, runs them, and ends the
// cluster; into is nil where the few tests that need one call Start. Flags are those of
// `devcluster up`. With -short nothing is run: what has no cluster of its own is in other
// packages.
func Main(m *testing.M, into **Cluster, flags ...string) {
	if flag.Parse(); testing.Short() {
		os.Exit(0)
	}
	setParallel()
	var to io.Writer = io.Discard
	if os.Getenv("OPERATOR_LOG") != "" {
		to = os.Stderr
	}
	klog.SetLogger(logr.Discard())
	if Log != nil {
		to = io.MultiWriter(Log, to)
		klog.SetLogger(zap.New(zap.WriteTo(Log)))
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(to)))
	if into == nil {
		os.Exit(m.Run())
	}
	c, err := startCluster(flags)
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the test cluster:", err)
		os.Exit(1)
	}
	*into = c
	code := m.Run()
	c.Stop()
	os.Exit(code)
}

// setParallel lets more tests run at once than there are processors, unless -parallel is
// given: they mostly wait for the cluster.
func setParallel() {
	isGiven := false
	flag.Visit(func(f *flag.Flag) { isGiven = isGiven || f.Name == "test.parallel" })
	if !isGiven {
		flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))) //nolint:errcheck // it is a number
	}
}

// Start starts one more cluster for a test, which ends with it. Flags are those of
// `devcluster up`.
func Start(t testing.TB, flags ...string) *Cluster {
	t.Helper()
	c, err := startCluster(flags)
	if err != nil {
		t.Fatal("starting a cluster: ", err)
	}
	t.Cleanup(c.Stop)
	return c
}

// startCluster starts .bin/devcluster, with the programs that KUBEBUILDER_ASSETS has.
func startCluster(flags []string) (*Cluster, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(root, ".bin", "devcluster")
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: build it by `make devcluster`", err)
	}
	dir, err := os.MkdirTemp("", "jacquard-test-")
	if err != nil {
		return nil, err
	}
	args := append([]string{"up", "--until-stdin-closes", "--dir", dir, "--token", "operator=" + User}, flags...)
	if !GuardOwners {
		args = append(args, "--default-admission")
	}
	if programs := os.Getenv("KUBEBUILDER_ASSETS"); programs != "" {
		args = append(args, "--programs", programs)
	}
	c := &Cluster{Dir: dir, cmd: exec.Command(binary, args...), printed: printed{kinds: map[string]*kind.Kind{}}}
	c.cmd.Stderr = os.Stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if err := c.awaitReady(out); err != nil {
		return nil, err
	}
	return c, c.connectClients()
}

// awaitReady reads the cluster's output until it says KUBECONFIG=, and goes on
// to note what its parts are.
func (c *Cluster) awaitReady(out io.Reader) error {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		c.notePart(lines.Text())
		if strings.HasPrefix(lines.Text(), "KUBECONFIG=") {
			go func() {
				for lines.Scan() {
					c.notePart(lines.Text())
				}
			}()
			return nil
		}
	}
	return errors.New("the cluster ended before it was ready")
}

// notePart reads a line such as "etcd  pid 123  LOG".
func (c *Cluster) notePart(line string) {
	words := strings.Fields(line)
	if len(words) < 3 || words[1] != "pid" {
		return
	}
	if pid, err := strconv.Atoi(words[2]); err == nil {
		c.parts.Store(words[0], pid)
	}
}

// Process is the process id of a part of the cluster, such as etcd or apiserver;
// with --restart, that of the newest one.
func (c *Cluster) Process(part string) (int, error) {
	pid, there := c.parts.Load(part)
	if !there {
		return 0, fmt.Errorf("the cluster has no part %s", part)
	}
	return pid.(int), nil
}

// connectClients makes the clients of the cluster, and starts to watch the CRDs.
func (c *Cluster) connectClients() (err error) {
	if c.Config, err = loadConfig(filepath.Join(c.Dir, "kubeconfig")); err != nil {
		return err
	}
	addJitter(c.Config, "JITTER_TESTS")
	if c.Client, err = client.NewWithWatch(c.Config, client.Options{}); err != nil {
		return err
	}
	return c.watchCRDs()
}

// loadConfig reads a kubeconfig.
func loadConfig(file string) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst = 500, 1000
	return cfg, nil
}

// Stop ends the cluster.
func (c *Cluster) Stop() {
	c.unfollow()
	c.stdin.Close()
	c.cmd.Wait() //nolint:errcheck // it is ended on purpose
	os.RemoveAll(c.Dir)
}

// An Operator is an operator that runs in the test's process.
type Operator struct {
	*controller.Operator
	// Config is its access; Access the account that it has if it was given none.
	Config   *rest.Config
	Access   *Access
	identity string
	traffic  *traffic
	// reconciledBefore counts, by kind, the reconciliations before it was started.
	reconciledBefore map[string]float64

	stop context.CancelFunc
	done chan error
	once sync.Once
}

// notInNames is what the path of a root may have, and the name of a Lease may not.
var notInNames = regexp.MustCompile(`[^a-z0-9./-]`)

// Run starts an operator over the roots; it ends with the test at the latest.
// It has an account of its own, with the rights that its folders need, or the
// access that change gives it.
func (c *Cluster) Run(t testing.TB, change func(*controller.Options), roots ...string) *Operator {
	t.Helper()
	a := c.Access(t)
	// A busy machine takes no leader for dead.
	options := controller.Options{Config: a.Config, Lease: controller.Lease{Duration: time.Minute, RenewDeadline: 50 * time.Second}}
	for _, dir := range roots {
		options.Roots = append(options.Roots, folder.FromDir(dir))
	}
	if len(roots) > 0 { // an operator that comes up again is the same one
		options.Identity = "test" + notInNames.ReplaceAllString(strings.ToLower(roots[0]), "-")
	}
	if change != nil {
		change(&options)
	}
	if options.Config.BearerToken == a.Config.BearerToken {
		a.Serve(options, roots...)
	}
	passed := &traffic{}
	options.Config = rest.CopyConfig(options.Config)
	options.Config.Wrap(passed.wrapTransport)
	before, err := sumByKind(reconciled)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	o := &Operator{Config: options.Config, Access: a, stop: stop, done: make(chan error, 1),
		identity: cmp.Or(options.Identity, path.Join(options.Namespace, "jacquard")), traffic: passed, reconciledBefore: before}
	pprof.Do(ctx, pprof.Labels(operatorLabel, a.User()), func(ctx context.Context) {
		if o.Operator, err = controller.New(options); err == nil {
			go func() { o.done <- o.Run(ctx) }()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Stop(t) })
	return o
}

// Stop ends the operator and waits for its end.
func (o *Operator) Stop(t testing.TB) {
	o.once.Do(func() {
		o.stop()
		select {
		case err := <-o.done:
			if err != nil {
				t.Errorf("the operator ended: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the operator does not end")
		}
	})
}

// Get reads an object as the cluster has it.
func (c *Cluster) Get(apiVersion, kindName, namespace, name string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kindName)
	return o, c.Client.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o)
}

// patience is how long Eventually waits: generous, since machines are slow, and
// what the operator or a controller was refused it tries again after a minute or
// more.
const patience = 3 * time.Minute

// Eventually waits until check returns nil, and fails with what it said last.
func Eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	if err := awaitSuccess(check); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

// awaitSuccess calls check until it returns nil or patience ends, and then returns its last error.
// It calls check again after a third of the time that it has waited so far. So it soon sees what is
// nearly there. What takes long is checked seldom, since frequent checks cost the API server more
// than the operators under test do.
func awaitSuccess(check func() error) (err error) {
	for start := time.Now(); time.Since(start) < patience; time.Sleep(chooseInterval(time.Since(start))) {
		if err = check(); err == nil {
			return nil
		}
	}
	return err
}

// chooseInterval returns how long to wait until the next check.
func chooseInterval(waited time.Duration) time.Duration {
	return min(max(waited/3, 25*time.Millisecond), 500*time.Millisecond)
}
