package machine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// systemPath is where programs for root are, beside what PATH says.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// cniFolders are where distributions put network plugins.
var cniFolders = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// Check says what this machine lacks to run real nodes, and changes nothing.
// containerd is the program to use, "" for the one that is installed.
func Check(containerd string) (Tools, error) {
	if os.Geteuid() != 0 {
		return Tools{}, errors.New("a real node needs root, for its cgroups, mounts and network; try sudo, or --node simulated")
	}
	if err := os.Setenv("PATH", os.Getenv("PATH")+":"+systemPath); err != nil {
		return Tools{}, fmt.Errorf("adding to the PATH: %w", err)
	}
	if err := checkPrivileges(); err != nil {
		return Tools{}, err
	}
	if containerd == "" {
		containerd = "containerd"
	}
	tools, missing := Tools{CNI: findPlugins()}, &Missing{}
	for _, p := range [][2]string{{containerd, "containerd"}, {"ctr", "containerd"}, {"runc", "runc"}, {"nft", "nftables"}} {
		path, err := exec.LookPath(p[0])
		if err != nil {
			missing.add(p[0], p[1])
			continue
		}
		if p[0] != containerd {
			continue
		}
		if tools.Containerd, err = filepath.Abs(path); err != nil {
			return tools, fmt.Errorf("finding %s: %w", path, err)
		}
	}
	if tools.CNI == "" {
		missing.add("the CNI plugins ptp and host-local", "containernetworking-plugins")
	}
	if len(missing.Programs) > 0 {
		return tools, missing
	}
	return tools, nil
}

func (e *Missing) add(program, from string) {
	e.Programs = append(e.Programs, program)
	if !slices.Contains(e.Packages, from) {
		e.Packages = append(e.Packages, from)
	}
}

// checkPrivileges fails where root is not allowed what a node needs, as in
// most containers.
func checkPrivileges() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("reading this process's capabilities: %w", err)
	}
	_, rest, _ := strings.Cut(string(status), "CapEff:")
	text, _, _ := strings.Cut(rest, "\n")
	has, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
	if err != nil {
		return fmt.Errorf("reading this process's capabilities: %w", err)
	}
	for bit, name := range map[int]string{unix.CAP_SYS_ADMIN: "CAP_SYS_ADMIN", unix.CAP_NET_ADMIN: "CAP_NET_ADMIN"} {
		if has&(1<<bit) == 0 {
			return fmt.Errorf("a real node needs %s; is this a container? Then it must be a privileged one", name)
		}
	}
	trees, err := listHierarchies()
	if err != nil {
		return fmt.Errorf("a real node needs cgroups: %w", err)
	}
	for _, tree := range trees {
		if err := unix.Access(tree.root, unix.W_OK); err != nil {
			return fmt.Errorf("a real node needs cgroups to write to: %s: %w", tree.root, err)
		}
	}
	return nil
}

func findPlugins() string {
	for _, dir := range cniFolders {
		_, err := os.Stat(filepath.Join(dir, "ptp"))
		_, err2 := os.Stat(filepath.Join(dir, "host-local"))
		if err == nil && err2 == nil {
			return dir
		}
	}
	return ""
}

// A Lock is the right to change this machine for a cluster.
type Lock struct{ socket net.Listener }

// Take takes the lock, which the kernel drops with this process. There is one
// for each network namespace, and no file of it: it is an abstract socket.
func Take() (*Lock, error) {
	socket, err := net.Listen("unix", "@devcluster-real-node")
	if err != nil {
		where := ""
		if dir := Left(); dir != "" {
			where = " in " + dir
		}
		return nil, fmt.Errorf("another cluster of real nodes runs on this machine%s; there can be only one at a time: %w", where, err)
	}
	return &Lock{socket: socket}, nil
}

// Release gives the lock back.
func (l *Lock) Release() { l.socket.Close() }
