package machine

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// umask is what a service manager gives containerd and kubelet. Under a
// stricter one they make root filesystems that only root can enter.
const umask = 0o022

// settings are the kernel's that forwarding needs or that kubelet sets.
var settings = []string{
	"net/ipv4/ip_forward",
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
	"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

// A record is how the machine was before, as far as it is changed. It is
// written before anything is.
type record struct {
	Boot        string            `json:"boot"`        // which life of the machine it is about
	Settings    map[string]string `json:"settings"`    // the kernel's, by path under /proc/sys
	Folders     []string          `json:"folders"`     // that were not there
	Controllers map[string]string `json:"controllers"` // cgroup v2's that were handed on, by hierarchy
}

// A Machine is this machine, made ready for a cluster of real nodes.
type Machine struct {
	*Room
	dir string
}

// Prepare makes this machine ready for the nodes of the cluster in dir. The
// caller has the Lock and has called Restore for what others left.
//
// It sets the process's umask, which the nodes' parts inherit.
func Prepare(dir string, nodes int) (*Machine, error) {
	syscall.Umask(umask)
	if err := checkFree(); err != nil {
		return nil, err
	}
	if err := writeRecord(dir); err != nil {
		return nil, err
	}
	if err := addBridge(dir, nodes); err != nil {
		return nil, err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
		return nil, fmt.Errorf("letting the kernel forward packets: %w", err)
	}
	if err := makeGroups(Group(dir), nodes); err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, fmt.Errorf("making %s to mount upon: %w", folder, err)
		}
	}
	room, err := openRoom(dir)
	if err != nil {
		return nil, err
	}
	return &Machine{Room: room, dir: dir}, nil
}

// Adopt makes a process and all that it will start part of the cluster, so
// that Restore ends them.
func (m *Machine) Adopt(pid int) error { return adoptProcess(Group(m.dir), pid) }

// Group is the name of the cgroup of the cluster in dir. No other cluster's
// processes are in it, wherever they run.
func Group(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("devcluster-%x", sum[:4])
}

func recordFile(dir string) string { return filepath.Join(dir, "machine.json") }

// writeRecord records how the machine is before the cluster changes it.
func writeRecord(dir string) error {
	was := record{Boot: readBootID(), Settings: map[string]string{}, Controllers: map[string]string{}}
	for _, setting := range settings {
		if value, err := os.ReadFile("/proc/sys/" + setting); err == nil { // not every kernel has all
			was.Settings[setting] = strings.TrimSpace(string(value))
		}
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			was.Folders = append(was.Folders, folder)
		}
	}
	trees, err := listHierarchies()
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if tree.v2 {
			was.Controllers[tree.root] = strings.Join(readControllers(filepath.Join(tree.root, "cgroup.subtree_control")), " ")
		}
	}
	data, err := json.MarshalIndent(was, "", "  ")
	if err != nil {
		return fmt.Errorf("writing how the machine was: %w", err)
	}
	if err := os.WriteFile(recordFile(dir), data, 0o600); err != nil {
		return fmt.Errorf("writing how the machine was: %w", err)
	}
	return nil
}

// readBootID returns the ID of the machine's present life, which its next boot changes.
func readBootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without one, all are the same
	return strings.TrimSpace(string(id))
}
