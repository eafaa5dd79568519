package cluster

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	certutil "k8s.io/client-go/util/cert"
)

// A state is what a cluster keeps in its folder, beside etcd's data, so that
// kubeconfigs stay good when it is started again.
type state struct {
	Node   string            `json:"node"`   // what its nodes are
	Ports  map[string]int    `json:"ports"`  // by what listens there
	Tokens map[string]string `json:"tokens"` // by user

	plain  bool   // the API server's default admission alone
	gates  string // the API server's feature gates, or ""
	dir    string
	folder *os.File // its lock
}

// openState reads the state of a folder, or makes one for that sort of nodes;
// and takes the folder's lock.
func openState(dir, node string) (*state, error) {
	for _, sub := range []string{"log", "config", "certs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("making the cluster's folder: %w", err)
		}
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	s := &state{Node: node, Ports: map[string]int{}, Tokens: map[string]string{}, dir: dir, folder: lock}
	data, err := os.ReadFile(s.pathTo("state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the cluster's state: %w", err)
	}
	s.Node = simulatedNodes // unless it says so
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("reading the cluster's state %s: %w", s.pathTo("state.json"), err)
	}
	if s.Node != node {
		return nil, fmt.Errorf("%s is of a cluster with %s nodes; want --node %s, or another --dir", dir, s.Node, s.Node)
	}
	return s, nil
}

// lockFolder takes a folder's lock, which lasts until the file is closed. The
// kernel does that at the latest with this process; so does Go, once nothing
// refers to the file.
func lockFolder(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the folder's lock: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("locking %s, which another cluster may be using: %w", dir, err)
	}
	return lock, nil
}

// pathTo returns the path of a file in the folder.
func (s *state) pathTo(elements ...string) string {
	return filepath.Join(append([]string{s.dir}, elements...)...)
}

// saveState writes the state into the folder.
func (s *state) saveState() error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the cluster's state: %w", err)
	}
	if err := os.WriteFile(s.pathTo("state.json"), data, 0o600); err != nil {
		return fmt.Errorf("writing the cluster's state: %w", err)
	}
	return nil
}

// tokenOf returns the token of a user, and draws one if there is none.
func (s *state) tokenOf(user string) string {
	if s.Tokens[user] == "" {
		s.Tokens[user] = rand.Text()
	}
	return s.Tokens[user]
}

// choosePorts gives each server a free loopback port: the one it had if that
// is free, otherwise one of the kernel's choice. All are held until the last
// is chosen, so no two are the same. On an address of the cluster's own, the
// API server has the usual one.
func (s *state) choosePorts() error {
	names := []string{"etcd", "etcd-peer", "apiserver"}
	if s.Node == realNodes {
		names = names[:2]
		s.Ports["apiserver"] = 6443
	}
	for _, name := range names {
		listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(s.Ports[name]))
		if err != nil {
			listener, err = net.Listen("tcp", "127.0.0.1:0")
		}
		if err != nil {
			return fmt.Errorf("finding a free port for %s: %w", name, err)
		}
		defer listener.Close()
		s.Ports[name] = listener.Addr().(*net.TCPAddr).Port
	}
	return nil
}

// makeKeys writes, unless they are there, the API server's certificate (which
// is its own authority) and the key that signs ServiceAccounts' tokens.
func (s *state) makeKeys() error {
	if _, err := os.Stat(s.pathTo("certs", "sa.key")); err == nil {
		return nil // written last
	}
	addresses := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)}
	names := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	cert, key, err := certutil.GenerateSelfSignedCertKey(s.serverAddress(), addresses, names)
	if err != nil {
		return fmt.Errorf("making the API server's certificate: %w", err)
	}
	signer, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("making the ServiceAccounts' key: %w", err)
	}
	if err := s.makeCaller(); err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(signer)}
	for _, file := range []struct {
		name string
		data []byte
	}{{"apiserver.crt", cert}, {"apiserver.key", key}, {"sa.key", pem.EncodeToMemory(block)}} {
		if err := os.WriteFile(s.pathTo("certs", file.name), file.data, 0o600); err != nil {
			return fmt.Errorf("writing keys: %w", err)
		}
	}
	return nil
}
