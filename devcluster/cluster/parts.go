package cluster

import (
	_ "embed"
	"fmt"
	"os"
	"strings"

	nodestages "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	podstages "sigs.k8s.io/kwok/kustomize/stage/pod/fast"

	"github.com/jacquard-operator/jacquard/devcluster/machine"
)

var (
	//go:embed data/audit-policy.yaml
	auditPolicy string
	//go:embed data/volume-stages.yaml
	volumeStages string
	//go:embed data/image-stages.yaml
	imageStages string
)

// selected is where the conditions of a stage begin, and pullable the one that
// keeps a Pod from becoming ready whose image cannot be pulled.
const (
	selected = "    matchExpressions:\n"
	pullable = "    - cel:\n        expression: \"!self.spec.containers.exists(c, c.image.contains('.invalid/'))\"\n"
)

// writeData writes the files that parts are pointed at.
func (s *state) writeData() error {
	stages := strings.Join([]string{
		nodestages.DefaultNodeInit,
		strings.Replace(podstages.DefaultPodReady, selected, selected+pullable, 1), podstages.DefaultPodComplete, podstages.DefaultPodDelete,
		imageStages, volumeStages,
	}, "\n---\n")
	for name, text := range map[string]string{"stages.yaml": stages, "audit-policy.yaml": auditPolicy} {
		if err := os.WriteFile(s.pathTo("config", name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// partsOf returns the parts of that name: of a real node's, one for each node.
func (c *cluster) partsOf(name string) (all []part) {
	of := c.containerdPart
	switch name {
	case "containerd":
	case "kubelet":
		of = c.kubeletPart
	case "kube-proxy":
		return []part{{name: name, command: name, beside: "kube-node", args: c.proxyArgs()}}
	default:
		return []part{c.makePart(name)}
	}
	for i := range c.nodes {
		all = append(all, of(i))
	}
	return all
}

// makePart returns the part of that name, with the command and the arguments that run it.
func (s *state) makePart(name string) part {
	switch name {
	case "etcd":
		return part{name: name, command: "etcd", args: s.etcdArgs()}
	case "apiserver":
		return part{name: name, command: "kube-apiserver", args: s.apiserverArgs()}
	case "controller-manager":
		return part{name: name, command: "kube-controller-manager", args: s.controllerArgs()}
	case "scheduler":
		return part{name: name, command: "kube-scheduler", args: []string{
			"--kubeconfig=" + s.pathTo("config", name), "--leader-elect=false", "--secure-port=0",
			"--kube-api-qps=1000", "--kube-api-burst=2000",
		}}
	case "kwok":
		return part{name: name, command: "kwok", args: []string{
			"--kubeconfig=" + s.pathTo("config", name), "--config=" + s.pathTo("config", "stages.yaml"),
			"--manage-all-nodes", "--node-lease-duration-seconds=40", "--node-ip=127.0.0.1",
		}, env: []string{"KWOK_WORKDIR=" + s.pathTo("kwok")}} // not the user's own settings in ~/.kwok
	case "router":
		return part{name: name, command: "router", args: []string{"--kubeconfig=" + s.pathTo("config", name)}}
	}
	panic("no part " + name) // options admit partNames only
}

func (s *state) etcdArgs() []string {
	client, peer := s.etcdURL(), fmt.Sprintf("http://127.0.0.1:%d", s.Ports["etcd-peer"])
	return []string{
		"--name=devcluster",
		"--data-dir=" + s.pathTo("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=devcluster=" + peer,
		"--unsafe-no-fsync", // data outlives the process, not the machine
		"--quota-backend-bytes=8589934592",
		"--log-level=warn",
	}
}

func (s *state) etcdURL() string { return fmt.Sprintf("http://127.0.0.1:%d", s.Ports["etcd"]) }

func (s *state) apiserverArgs() []string {
	args := append([]string{
		"--etcd-servers=" + s.etcdURL(),
		"--bind-address=" + s.serverAddress(), "--advertise-address=" + s.serverAddress(),
		fmt.Sprintf("--secure-port=%d", s.Ports["apiserver"]),
		"--tls-cert-file=" + s.pathTo("certs", "apiserver.crt"),
		"--tls-private-key-file=" + s.pathTo("certs", "apiserver.key"),
		"--token-auth-file=" + s.pathTo("config", "tokens.csv"),
		"--allow-privileged",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + s.pathTo("certs", "sa.key"),
		"--service-account-signing-key-file=" + s.pathTo("certs", "sa.key"),
		"--service-cluster-ip-range=" + machine.Services,
		"--audit-policy-file=" + s.pathTo("config", "audit-policy.yaml"),
		"--audit-log-path=" + s.pathTo("audit.log"),
		"--audit-log-maxsize=1000", // MB, then it is renamed
	}, s.nodeArgs()...)
	if s.gates != "" {
		args = append(args, "--feature-gates="+s.gates)
	}
	return args
}

// nodeArgs are those of the API server's arguments that depend on what nodes
// are.
func (s *state) nodeArgs() []string {
	if s.Node != realNodes {
		args := []string{
			// A loopback address cannot be an endpoint of the kubernetes Service.
			"--endpoint-reconciler-type=none",
			"--authorization-mode=RBAC",
		}
		if s.plain {
			return args
		}
		return append(args, "--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
	}
	return []string{
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate=" + s.pathTo("certs", "caller.crt"),
		"--kubelet-client-key=" + s.pathTo("certs", "caller.key"),
	}
}

func (s *state) controllerArgs() []string {
	return []string{
		"--kubeconfig=" + s.pathTo("config", "controller-manager"),
		"--root-ca-file=" + s.pathTo("certs", "apiserver.crt"),
		"--service-account-private-key-file=" + s.pathTo("certs", "sa.key"),
		"--use-service-account-credentials",
		"--leader-elect=false",
		"--secure-port=0",
		// By default the garbage collector deletes some 20 objects a second.
		"--kube-api-qps=1000", "--kube-api-burst=2000",
	}
}
