package cluster

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/jacquard-operator/jacquard/devcluster/machine"
)

//go:embed data/containerd.toml data/kubelet.yaml data/pods.conflist data/hosts.toml
var nodeFiles embed.FS

var nodeTemplates = template.Must(template.ParseFS(nodeFiles, "data/*"))

// longestSocket is how long the path of a socket may be, and deepestSocket the
// longest of those in a cluster's folder.
const (
	longestSocket = 107
	deepestSocket = "/node-99/kubelet/pod-resources/kubelet.sock"
)

// A nodeData is what the files of a real node are made with.
type nodeData struct {
	Dir         string // the node's folder
	Name        string
	Address     string
	Pods        string // the network of its Pods
	Group       string // the cluster's cgroup, without slash
	Caller      string // the certificate of the API server as a client
	Pause       string // name of the image
	CNI         string // folder of the plugins
	Snapshotter string
	Registries  string // containerd's folder about registries
	Mirror      string
}

func (c *cluster) nodeData(i int) nodeData {
	snapshotter := "native"
	if c.machine.OverlayWorks(c.pathTo("log")) {
		snapshotter = "overlayfs"
	}
	return nodeData{
		Dir: c.pathTo(nodeName(i)), Name: nodeName(i),
		Address: machine.NodeAddress(i), Pods: machine.PodNetwork(i), Group: machine.Group(c.state.dir),
		Caller: c.pathTo("certs", "caller.crt"), Pause: pauseImage, CNI: c.tools.CNI,
		Snapshotter: snapshotter, Registries: c.pathTo("config", "registries"), Mirror: c.mirror,
	}
}

// writeNodes writes the files of real nodes' parts, and clears what was about
// processes and addresses of another life.
func (c *cluster) writeNodes() error {
	for i := range c.nodes {
		data := c.nodeData(i)
		for _, old := range []string{"running", "addresses", "cni"} {
			if err := os.RemoveAll(filepath.Join(data.Dir, old)); err != nil {
				return fmt.Errorf("clearing the folder of %s: %w", data.Name, err)
			}
		}
		for name, to := range map[string]string{"containerd.toml": "containerd.toml", "kubelet.yaml": "kubelet.yaml",
			"pods.conflist": "cni/pods.conflist"} {
			if err := writeFrom(name, filepath.Join(data.Dir, to), data); err != nil {
				return err
			}
		}
	}
	if err := os.RemoveAll(c.pathTo("config", "registries")); err != nil {
		return fmt.Errorf("clearing what is said of registries: %w", err)
	}
	if c.mirror == "" {
		return nil
	}
	return writeFrom("hosts.toml", c.pathTo("config", "registries", "_default", "hosts.toml"), nodeData{Mirror: c.mirror})
}

// writeFrom writes the file that a template of data/ makes.
func writeFrom(name, to string, data nodeData) error {
	var text strings.Builder
	if err := nodeTemplates.ExecuteTemplate(&text, name, data); err != nil {
		return fmt.Errorf("making %s: %w", to, err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", to, err)
	}
	if err := os.WriteFile(to, []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("writing a node's file: %w", err)
	}
	return nil
}

// containerdPart returns how to run a node's containerd.
func (c *cluster) containerdPart(i int) part {
	return part{name: fmt.Sprintf("containerd-%d", i), program: c.tools.Containerd, ofNode: true,
		args: []string{"--config", c.pathTo(nodeName(i), "containerd.toml")},
		// The shim beside it is of its version.
		env: []string{"PATH=" + filepath.Dir(c.tools.Containerd) + ":" + os.Getenv("PATH")}}
}

// kubeletPart returns how to run a node's kubelet.
func (c *cluster) kubeletPart(i int) part {
	return part{name: fmt.Sprintf("kubelet-%d", i), command: "kubelet", beside: "kube-node", ofNode: true, args: []string{
		"--config=" + c.pathTo(nodeName(i), "kubelet.yaml"),
		"--kubeconfig=" + c.pathTo("config", nodeName(i)),
		"--root-dir=" + c.pathTo(nodeName(i), "kubelet"),
		"--cert-dir=" + c.pathTo(nodeName(i), "kubelet", "pki"),
		"--hostname-override=" + nodeName(i),
		"--node-ip=" + machine.NodeAddress(i),
	}}
}

// proxyArgs are kube-proxy's. One serves all nodes, which share the machine's
// network.
func (c *cluster) proxyArgs() []string {
	address := machine.NodeAddress(0)
	return []string{
		"--kubeconfig=" + c.pathTo("config", "kube-proxy"),
		// A Pod that reaches itself through a Service must not see its own
		// address; of itself, kube-proxy looks after the first node's Pods alone.
		fmt.Sprintf("--masquerade-all=%t", c.nodes > 1),
		"--hostname-override=" + nodeName(0),
		"--proxy-mode=nftables",
		"--cluster-cidr=" + machine.Pods,
		"--nodeport-addresses=primary",
		"--healthz-bind-address=" + address + ":10256",
		"--metrics-bind-address=" + address + ":10249",
		// The machine's own settings of connection tracking stay.
		"--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0",
	}
}
