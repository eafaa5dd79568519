package machine

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A hierarchy is a mounted tree of cgroups. cgroup v1 has one for each
// controller, v2 has one for all.
type hierarchy struct {
	root string
	v2   bool
}

// listHierarchies lists what is mounted under /sys/fs/cgroup.
func listHierarchies() ([]hierarchy, error) {
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		return nil, fmt.Errorf("listing mounts: %w", err)
	}
	defer mounts.Close()
	var found []hierarchy
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || !strings.HasPrefix(fields[1], "/sys/fs/cgroup") || fields[2] != "cgroup" && fields[2] != "cgroup2" {
			continue
		}
		found = append(found, hierarchy{root: fields[1], v2: fields[2] == "cgroup2"})
	}
	if len(found) == 0 {
		return nil, errors.New("this machine has no cgroups under /sys/fs/cgroup")
	}
	return found, nil
}

// readControllers reads a list of cgroup v2's controllers.
func readControllers(path string) []string {
	data, _ := os.ReadFile(path) // v1 has none
	return strings.Fields(string(data))
}

// makeGroups makes the cgroup `name` with one below for each node and one for
// the runtimes, in every hierarchy.
func makeGroups(name string, nodes int) error {
	trees, err := listHierarchies()
	if err != nil {
		return err
	}
	for _, tree := range trees {
		group := filepath.Join(tree.root, name)
		if err := os.MkdirAll(group, 0o755); err != nil {
			return fmt.Errorf("making a cgroup: %w", err)
		}
		for _, parent := range []string{tree.root, group} {
			if err := tree.enableControllers(parent); err != nil {
				return err
			}
		}
		below := []string{"runtime"}
		for i := range nodes {
			below = append(below, "node-"+strconv.Itoa(i))
		}
		for _, sub := range below {
			if err := os.MkdirAll(filepath.Join(group, sub), 0o755); err != nil {
				return fmt.Errorf("making a cgroup: %w", err)
			}
		}
	}
	return nil
}

// enableControllers hands a cgroup's controllers on to those below it.
func (h hierarchy) enableControllers(group string) error {
	control := filepath.Join(group, "cgroup.subtree_control")
	enabled := readControllers(control)
	for _, controller := range readControllers(filepath.Join(group, "cgroup.controllers")) {
		if slices.Contains(enabled, controller) {
			continue
		}
		err := os.WriteFile(control, []byte("+"+controller), 0)
		if errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("enabling the controller %s in %s: %w: it has processes of its own, as in a container; move them into a cgroup below it first", controller, group, err)
		}
		if err != nil {
			return fmt.Errorf("enabling the controller %s in %s: %w", controller, group, err)
		}
	}
	return nil
}

// adoptProcess moves a process into the runtimes' cgroup, with all that it starts.
func adoptProcess(name string, pid int) error {
	trees, err := listHierarchies()
	if err != nil {
		return err
	}
	for _, tree := range trees {
		// A new v1 cpuset admits nobody, and one hierarchy is enough to find
		// the processes by.
		if !tree.v2 && filepath.Base(tree.root) != "pids" && filepath.Base(tree.root) != "freezer" {
			continue
		}
		procs := filepath.Join(tree.root, name, "runtime", "cgroup.procs")
		if err := os.WriteFile(procs, []byte(strconv.Itoa(pid)), 0); err != nil {
			return fmt.Errorf("moving process %d into a cgroup: %w", pid, err)
		}
	}
	return nil
}

// killLimit is how long processes may take to end once they are killed.
const killLimit = 20 * time.Second

// removeGroups kills all processes of the cgroup and those below it, and
// removes them.
func removeGroups(name string) error {
	trees, err := listHierarchies()
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(killLimit); ; time.Sleep(20 * time.Millisecond) {
		var left error
		for _, tree := range trees {
			left = errors.Join(left, removeGroup(filepath.Join(tree.root, name)))
		}
		if left == nil || time.Now().After(deadline) {
			return left
		}
	}
}

// removeGroup removes a tree of cgroups from below, as far as it is empty, and
// kills what is in the rest.
func removeGroup(group string) error {
	entries, err := os.ReadDir(group)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var left error
	for _, entry := range entries {
		if entry.IsDir() {
			left = errors.Join(left, removeGroup(filepath.Join(group, entry.Name())))
		}
	}
	for _, pid := range readControllers(filepath.Join(group, "cgroup.procs")) {
		if number, err := strconv.Atoi(pid); err == nil && number > 0 {
			_ = unix.Kill(number, unix.SIGKILL) // it may have ended
		}
	}
	if err := os.Remove(group); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(left, fmt.Errorf("removing a cgroup: %w", err))
	}
	return left
}
