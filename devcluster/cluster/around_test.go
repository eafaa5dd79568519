package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lookAround describes all of this machine that a cluster of real nodes
// changes.
func lookAround(t *testing.T) string {
	t.Helper()
	var view strings.Builder
	tables, err := exec.Command("nft", "list", "tables").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, tables)
	}
	view.Write(tables)
	for _, file := range []string{
		"/proc/net/route", "/proc/self/mounts", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/vm/overcommit_memory",
		"/proc/sys/vm/panic_on_oom", "/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops", "/proc/sys/kernel/keys/root_maxkeys",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		view.WriteString(file + "\n" + string(text))
	}
	for _, pattern := range []string{
		"/sys/class/net/*", "/sys/fs/cgroup/*devcluster*", "/sys/fs/cgroup/*/*devcluster*", "/run/containerd", "/run/netns",
		"/var/lib/cni", "/var/lib/kubelet", "/var/log/containers/*", "/var/log/pods/*",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		view.WriteString(strings.Join(found, "\n") + "\n")
	}
	return view.String()
}

// sameMachine fails if the machine does not look as before.
func sameMachine(t *testing.T, before string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(lookAround(t), "\n")); diff != "" {
		t.Errorf("the machine has changed (-before +after):\n%s", diff)
	}
}

// processesOf lists the command lines in which a folder is named.
func processesOf(t *testing.T, dir string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		line, _ := os.ReadFile(file) // the process may have ended
		if strings.Contains(string(line), dir) {
			found = append(found, string(line))
		}
	}
	return found
}
