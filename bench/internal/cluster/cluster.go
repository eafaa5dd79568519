// Package cluster starts a throw-away control plane (etcd + kube-apiserver,
// optionally kube-controller-manager) on loopback ports of its own.
package cluster

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/bench/internal/proc"
)

// User names that appear in the audit log.
const (
	AdminUser    = "bench"
	OperatorUser = "operator"
)

// Options says how to start the control plane.
type Options struct {
	Assets   string // has etcd, kube-apiserver and, WithKCM, kube-controller-manager
	Dir      string // emptied by Start
	BasePort int    // apiserver; +1 etcd client, +2 etcd peer, +3 kcm
	WithKCM  bool
}

// Cluster is a running control plane.
type Cluster struct {
	opts Options
	etcd *proc.Process
	api  *proc.Process
	kcm  *proc.Process
}

// Start runs the control plane and returns once /readyz says ok.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if err := os.RemoveAll(o.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	for port := o.BasePort; port < o.BasePort+4; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return nil, fmt.Errorf("port %d is taken: %w", port, err)
		}
		l.Close()
	}
	c := &Cluster{opts: o}
	if err := c.writeFiles(); err != nil {
		return nil, err
	}
	var err error
	c.etcd, err = proc.Start(c.filePath("etcd.log"), nil, c.assetPath("etcd"), c.etcdArgs()...)
	if err != nil {
		return nil, err
	}
	if err := waitPort(ctx, o.BasePort+1); err != nil {
		c.Stop()
		return nil, fmt.Errorf("etcd: %w", err)
	}
	c.api, err = proc.Start(c.filePath("apiserver.log"), nil, c.assetPath("kube-apiserver"), c.apiserverArgs()...)
	if err != nil {
		c.Stop()
		return nil, err
	}
	if err := c.waitReady(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	if o.WithKCM {
		c.kcm, err = proc.Start(c.filePath("kcm.log"), nil, c.assetPath("kube-controller-manager"),
			"--kubeconfig="+c.filePath("kubeconfig-kcm"),
			"--service-account-private-key-file="+c.filePath("sa.key"),
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", o.BasePort+3))
		if err != nil {
			c.Stop()
			return nil, err
		}
	}
	return c, nil
}

// Stop ends every process Start began.
func (c *Cluster) Stop() {
	for _, p := range []*proc.Process{c.kcm, c.api, c.etcd} {
		if p != nil {
			p.Kill()
		}
	}
}

// assetPath returns the path of a program.
func (c *Cluster) assetPath(name string) string { return filepath.Join(c.opts.Assets, name) }

func (c *Cluster) etcdArgs() []string {
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", c.opts.BasePort+1), fmt.Sprintf("http://127.0.0.1:%d", c.opts.BasePort+2)
	return []string{
		"--name=bench",
		"--data-dir=" + c.filePath("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=bench=" + peer,
		"--unsafe-no-fsync", // the disk is not what is measured
		"--log-level=warn",
	}
}

func (c *Cluster) apiserverArgs() []string {
	return []string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", c.opts.BasePort+1),
		fmt.Sprintf("--secure-port=%d", c.opts.BasePort),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // a loopback address cannot be an endpoint
		"--cert-dir=" + c.filePath("certs"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.filePath("sa.pub"),
		"--service-account-signing-key-file=" + c.filePath("sa.key"),
		"--service-cluster-ip-range=10.96.0.0/14",
		"--token-auth-file=" + c.filePath("tokens.csv"),
		"--authorization-mode=RBAC",
		"--audit-policy-file=" + c.filePath("audit-policy.yaml"),
		"--audit-log-path=" + c.AuditLog(),
		"--audit-log-maxsize=4096",
	}
}

// AuditLog is the path of the apiserver's audit log.
func (c *Cluster) AuditLog() string { return c.filePath("audit.log") }

// OperatorKubeconfig is the path of the kubeconfig of the operator's user.
func (c *Cluster) OperatorKubeconfig() string { return c.filePath("kubeconfig-operator") }

// CPU is the CPU time used so far by the whole control plane.
func (c *Cluster) CPU() time.Duration {
	var sum time.Duration
	for _, p := range []*proc.Process{c.kcm, c.api, c.etcd} {
		if p != nil {
			sum += p.CPU()
		}
	}
	return sum
}

// Config is the harness's own client configuration: no client-side rate limit.
func (c *Cluster) Config() *rest.Config {
	return &rest.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", c.opts.BasePort),
		BearerToken:     "token-" + AdminUser,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		QPS:             -1,
		UserAgent:       "bench",
	}
}

// filePath returns the path of a file of the cluster.
func (c *Cluster) filePath(name string) string { return filepath.Join(c.opts.Dir, name) }

func (c *Cluster) writeFiles() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	pub, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	files := map[string]string{
		"sa.key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		"sa.pub": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub})),
		"audit-policy.yaml": `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules: [{level: Metadata}]
`,
	}
	for _, user := range []string{AdminUser, OperatorUser, "kcm"} {
		files["tokens.csv"] += fmt.Sprintf("token-%s,%s,%s,system:masters\n", user, user, user)
		files["kubeconfig-"+user] = fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:%d", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: token-%s}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, c.opts.BasePort, user)
	}
	for name, content := range files {
		if err := os.WriteFile(c.filePath(name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) waitReady(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	for {
		_, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("apiserver not ready: %w", err)
		case <-c.api.Done():
			return fmt.Errorf("apiserver ended, see %s", c.filePath("apiserver.log"))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func waitPort(ctx context.Context, port int) error {
	for i := 0; i < 100; i++ {
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("nothing listens on port %d", port)
}
