package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stopGrace is how long a process may take to end by itself.
const stopGrace = 20 * time.Second

// A command is what to start.
type command struct {
	name string // also names the log
	path string
	args []string
	ends bool // by itself, and the demo goes on
}

// A process is a command that runs.
type process struct {
	name string
	log  string // path
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start starts a command with its output in log/<name>.log. When it ends the
// whole demo does, unless it is one that ends. Its standard input is a pipe that we hold: it closes when
// we end, however that comes about.
//
// It must be called from the main goroutine.
func (d *demo) start(c command) (*process, error) {
	path := filepath.Join(d.dir, "log", c.name+".log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", c.name, err)
	}
	defer log.Close() // the process keeps its own
	cmd := exec.Command(c.path, c.args...)
	cmd.Dir = d.root
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	p := &process{name: c.name, log: path, cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // cmd.ProcessState says it all
		if !c.ends {
			d.cancel(fmt.Errorf("%s ended: %s; the end of %s:\n%s",
				p.name, cmd.ProcessState, d.relativePath("log", c.name+".log"), readTail(path)))
		}
		close(p.done)
	}()
	return p, nil
}

// stop ends a process, if it was ever started, and waits for it.
func (p *process) stop() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // has it ended already, so much the better
	select {
	case <-p.done:
	case <-time.After(stopGrace):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// readTail returns the last lines of a log. If a Go program crashed, they begin where it prints the
// reason.
func readTail(path string) string {
	const lines = 20
	data, err := os.ReadFile(path)
	if err != nil {
		return "  " + err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(data)), "\n")
	first := max(0, len(all)-lines)
	for i, line := range all[:first] {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "SIG") {
			first = i
			break
		}
	}
	return "  " + strings.Join(all[first:min(len(all), first+lines)], "\n  ")
}
