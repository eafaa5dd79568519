package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stopGrace is how long a part may take to end by itself.
const stopGrace = 5 * time.Second

// A part is one process of the cluster.
type part struct {
	name    string // as in --components
	command string // subcommand of devcluster, or of the program beside it
	beside  string // the program beside devcluster that has the command; "" for devcluster
	program string // path of another program, in place of devcluster
	ofNode  bool   // sees a real node's mounts, and is one of its processes
	args    []string
	env     []string // added to the environment
}

// A process is a part that runs.
type process struct {
	part
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// A partExit says that a part ended though nobody asked it to. It holds the end
// of the log, which may be gone when it is printed.
type partExit struct {
	name  string
	state string
	log   string
	end   string
}

func (e *partExit) Error() string {
	return fmt.Sprintf("%s ended: %s; the end of %s:\n%s", e.name, e.state, e.log, e.end)
}

// start starts a part with its output in <dir>/log/<name>.log. When it ends,
// ended is called with a *partExit.
//
// It must be called from a goroutine that is locked to its thread and lives
// as long as the program: on Linux the kernel kills the part when that thread
// ends, however that came about.
func (p part) start(dir string, ended context.CancelCauseFunc) (*process, error) {
	path := filepath.Join(dir, "log", p.name+".log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", p.name, err)
	}
	defer log.Close() // the child keeps its own
	cmd, err := p.prepareCommand()
	if err != nil {
		return nil, err
	}
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	running := &process{part: p, cmd: cmd, log: path, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // cmd.ProcessState says it all
		ended(&partExit{name: p.name, state: cmd.ProcessState.String(), log: path, end: readTail(path, 20)})
		close(running.done)
	}()
	return running, nil
}

// prepareCommand returns the command that runs the part.
func (p part) prepareCommand() (*exec.Cmd, error) {
	if p.program != "" {
		return exec.Command(p.program, p.args...), nil
	}
	name, program, err := "devcluster", "", error(nil)
	if p.beside == "" {
		program, err = os.Executable()
	} else {
		name = p.beside
		program, err = findProgram(name)
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	cmd := exec.Command(program, append([]string{p.command}, p.args...)...)
	cmd.Args[0] = name // not a link's name, which would be taken for a component
	return cmd, nil
}

// findProgram returns the path of a program that devcluster/build makes in the folder of this one.
func findProgram(name string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("finding the program %s, which devcluster/build makes: %w", name, err)
	}
	return path, nil
}

// stopProcesses ends processes, all at once, and waits for them.
func stopProcesses(processes []*process) {
	for _, p := range processes {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // has it ended already, so much the better
	}
	late := time.After(stopGrace)
	for _, p := range processes {
		select {
		case <-p.done:
		case <-late:
			late = time.After(0)
			_ = p.cmd.Process.Kill()
			<-p.done
		}
	}
}

// readTail returns the last lines of a file.
func readTail(path string, lines int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(data)), "\n")
	return "  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}
