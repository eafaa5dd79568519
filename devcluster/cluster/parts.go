package cluster

import (
	_ "embed"
	"fmt"
	"os"
	"strings"

	nodestages "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	podstages "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

var (
	//go:embed data/audit-policy.yaml
	auditPolicy string
	//go:embed data/volume-stages.yaml
	volumeStages string
)

// writeData writes the files that parts are pointed at.
func (s *state) writeData() error {
	stages := strings.Join([]string{
		nodestages.DefaultNodeInit,
		podstages.DefaultPodReady, podstages.DefaultPodComplete, podstages.DefaultPodDelete,
		volumeStages,
	}, "\n---\n")
	for name, text := range map[string]string{"stages.yaml": stages, "audit-policy.yaml": auditPolicy} {
		if err := os.WriteFile(s.path("config", name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// part returns how to run the part of that name.
func (s *state) part(name string) part {
	switch name {
	case "etcd":
		return part{name: name, command: "etcd", args: s.etcdArgs()}
	case "apiserver":
		return part{name: name, command: "kube-apiserver", args: s.apiserverArgs()}
	case "controller-manager":
		return part{name: name, command: "kube-controller-manager", args: s.controllerArgs()}
	case "scheduler":
		return part{name: name, command: "kube-scheduler", args: []string{
			"--kubeconfig=" + s.path("config", name), "--leader-elect=false", "--secure-port=0",
			"--kube-api-qps=1000", "--kube-api-burst=2000",
		}}
	case "kwok":
		return part{name: name, command: "kwok", args: []string{
			"--kubeconfig=" + s.path("config", name), "--config=" + s.path("config", "stages.yaml"),
			"--manage-all-nodes", "--node-lease-duration-seconds=40", "--node-ip=127.0.0.1",
		}, env: []string{"KWOK_WORKDIR=" + s.path("kwok")}} // not the user's own settings in ~/.kwok
	case "router":
		return part{name: name, command: "router", args: []string{"--kubeconfig=" + s.path("config", name)}}
	}
	panic("no part " + name) // options admit partNames only
}

func (s *state) etcdArgs() []string {
	client, peer := s.etcdURL(), fmt.Sprintf("http://127.0.0.1:%d", s.Ports["etcd-peer"])
	return []string{
		"--name=devcluster",
		"--data-dir=" + s.path("etcd"),
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
	return []string{
		"--etcd-servers=" + s.etcdURL(),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", s.Ports["apiserver"]),
		// A loopback address cannot be an endpoint of the kubernetes Service.
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + s.path("certs", "apiserver.crt"),
		"--tls-private-key-file=" + s.path("certs", "apiserver.key"),
		"--token-auth-file=" + s.path("config", "tokens.csv"),
		"--authorization-mode=RBAC",
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		"--allow-privileged",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + s.path("certs", "sa.key"),
		"--service-account-signing-key-file=" + s.path("certs", "sa.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--audit-policy-file=" + s.path("config", "audit-policy.yaml"),
		"--audit-log-path=" + s.path("audit.log"),
		"--audit-log-maxsize=1000", // MB, then it is renamed
	}
}

func (s *state) controllerArgs() []string {
	return []string{
		"--kubeconfig=" + s.path("config", "controller-manager"),
		"--root-ca-file=" + s.path("certs", "apiserver.crt"),
		"--service-account-private-key-file=" + s.path("certs", "sa.key"),
		"--use-service-account-credentials",
		"--leader-elect=false",
		"--secure-port=0",
		// By default the garbage collector deletes some 20 objects a second.
		"--kube-api-qps=1000", "--kube-api-burst=2000",
	}
}
