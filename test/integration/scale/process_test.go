package scale

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// An operatorProcess is an operator that is measured from outside.
type operatorProcess struct {
	load  *load
	cmd   *exec.Cmd
	began time.Time
	mu    sync.Mutex
	log   bytes.Buffer
}

// Write takes the log.
func (p *operatorProcess) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

// run starts an operator with further flags.
func (l *load) run(flags ...string) *operatorProcess {
	l.Helper()
	self, err := os.Executable()
	if err != nil {
		l.Fatal(err)
	}
	p := &operatorProcess{load: l, began: time.Now()}
	args := []string{"run", "--buckets", strconv.Itoa(l.buckets), "--kubeconfig", filepath.Join(l.cluster.Dir, "operator.kubeconfig"), "--root", l.root,
		"--operator-namespace", l.home, "--installation", l.identity(), "--leader-election-namespace", l.home, "--health-probe-bind-address", "0"}
	p.cmd = exec.Command(self, append(args, flags...)...)
	p.cmd.Env = append(os.Environ(), asOperator+"=1", "GODEBUG=gctrace=1")
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.stop()
		}
		if l.Failed() {
			l.Log(p.log.String())
		}
	})
	return p
}

func (p *operatorProcess) stop() {
	p.load.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.load.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.load.Errorf("the operator ended: %v", err)
	}
}

// memory are the resident memory now, its peak, and the live heap by the last
// garbage collection, in MiB.
func (p *operatorProcess) memory() (now, peak, heap float64) {
	p.load.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.load.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		kib, _ := strconv.ParseFloat(fields[1], 64)
		switch fields[0] {
		case "VmRSS:":
			now = kib / 1024
		case "VmHWM:":
			peak = kib / 1024
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if all := traced.FindAllStringSubmatch(p.log.String(), -1); len(all) > 0 {
		heap, _ = strconv.ParseFloat(all[len(all)-1][1], 64)
	}
	return now, peak, heap
}

// traced is the heap in a line of GODEBUG=gctrace=1: before, at the end of, and
// live after a collection.
var traced = regexp.MustCompile(`\d+->\d+->(\d+) MB`)

// cpu is the processor time that was used, by /proc/PID/stat, in hundredths of
// a second.
func (p *operatorProcess) cpu() time.Duration {
	p.load.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		p.load.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
