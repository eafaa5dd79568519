package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bin is the folder of the built binary and its links.
var bin string

func TestMain(m *testing.M) {
	build := exec.Command("../build")
	build.Stderr = os.Stderr
	out, err := build.Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "building devcluster:", err)
		os.Exit(1)
	}
	bin = strings.TrimSpace(string(out))
	os.Exit(m.Run())
}

// A running is a `devcluster up` that said it is ready.
type running struct {
	cmd        *exec.Cmd
	pids       map[string]int // by part
	kubeconfig string
	stderr     *bytes.Buffer
	rest       chan struct{} // closed at the end of its standard output
}

var partLine = regexp.MustCompile(`^(\S+) +pid (\d+) `)

// up starts a cluster and waits until it is ready.
func up(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{pids: map[string]int{}, stderr: &bytes.Buffer{}, rest: make(chan struct{})}
	r.cmd = exec.Command(filepath.Join(bin, "devcluster"), append([]string{"up", "--until-stdin-closes"}, args...)...)
	r.cmd.Stderr = r.stderr
	if _, err := r.cmd.StdinPipe(); err != nil { // closes with this process
		t.Fatal(err)
	}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	for r.kubeconfig == "" && lines.Scan() {
		if match := partLine.FindStringSubmatch(lines.Text()); match != nil {
			r.pids[match[1]], _ = strconv.Atoi(match[2])
		}
		if path, ok := strings.CutPrefix(lines.Text(), "KUBECONFIG="); ok {
			r.kubeconfig = path
		}
	}
	go func() {
		for lines.Scan() {
		}
		close(r.rest)
	}()
	if r.kubeconfig == "" {
		<-r.rest
		_ = r.cmd.Wait()
		t.Fatalf("the cluster did not become ready: %s", r.stderr)
	}
	return r
}

// end waits for the program's end and returns its exit code. No part may be
// left then.
func (r *running) end(t *testing.T) int {
	t.Helper()
	<-r.rest
	_ = r.cmd.Wait()
	for name, pid := range r.pids {
		eventually(t, name+" is gone", func() bool { return gone(pid) })
	}
	return r.cmd.ProcessState.ExitCode()
}

// kubectl runs kubectl as the cluster's admin and returns what it printed.
func (r *running) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.tryKubectl(args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (r *running) tryKubectl(args ...string) (string, error) {
	flags := []string{"--kubeconfig=" + r.kubeconfig, "--cache-dir=" + filepath.Dir(r.kubeconfig) + "/kubectl"}
	out, err := exec.Command(filepath.Join(bin, "kubectl"), append(flags, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return string(out), nil
}

// gone tells whether a process has ended, be it unreaped.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return bytes.Contains(stat, []byte(") Z "))
}

// patience is long enough for what Kubernetes tries again after half a minute.
const patience = 3 * time.Minute

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
