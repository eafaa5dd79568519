// Package cluster runs a Kubernetes on this machine: etcd, the control plane,
// simulated or real nodes, each a process of this very program, but for the
// containerd of real nodes and what --programs brings.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jacquard-operator/jacquard/devcluster/machine"
)

// readyLimit is how long a cluster may take to become ready; about ten
// seconds are usual.
const readyLimit = 5 * time.Minute

// errAsked ends a cluster that somebody asked to end.
var errAsked = errors.New("asked to stop")

// Run is `devcluster up`: it starts a cluster, says on standard output when it
// is ready, and takes it down when it is asked to or when a part ends. The
// latter is an error. Call it from the program's main goroutine.
func Run(args []string) error {
	o, err := parseOptions(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	runtime.LockOSThread() // never unlocked; see part.start
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	cancelWhenAsked(cancel, o.untilStdin)

	dir, remove, err := resolveFolder(o.dir)
	if err != nil {
		return err
	}
	defer remove()
	c := &cluster{options: o, cancel: cancel, ended: make(chan string, 2*len(o.parts))}
	if err := c.checkMachine(dir); err != nil {
		return err
	}
	err = c.runUntilDown(ctx, dir)
	return errors.Join(err, c.bringDown())
}

// runUntilDown brings the cluster up and returns when it is to go down. It returns an error unless
// somebody asked for that.
func (c *cluster) runUntilDown(ctx context.Context, dir string) error {
	err := c.bringUp(ctx, dir)
	if err == nil {
		err = c.keepPartsRunning(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	if cause := context.Cause(ctx); !errors.Is(cause, errAsked) {
		return cause
	}
	return nil
}

// cancelWhenAsked cancels on Ctrl-C, on SIGTERM and, if wanted, at the end of
// standard input. A second signal ends the program at once.
func cancelWhenAsked(cancel context.CancelCauseFunc, untilStdin bool) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		fmt.Fprintln(os.Stderr, "taking the cluster down")
		cancel(errAsked)
	}()
	if untilStdin {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel(errAsked)
		}()
	}
}

// resolveFolder returns the absolute path of the cluster's folder, and what is to be called at the
// end. Without a path it makes a temporary folder, which is then removed.
func resolveFolder(dir string) (path string, remove func(), err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "devcluster-"); err != nil {
			return "", nil, fmt.Errorf("making a temporary folder: %w", err)
		}
		return dir, func() { _ = os.RemoveAll(dir) }, nil
	}
	if path, err = filepath.Abs(dir); err != nil {
		return "", nil, fmt.Errorf("finding %s: %w", dir, err)
	}
	return path, func() {}, nil
}

// A cluster is the running parts.
type cluster struct {
	options
	*state
	processes []*process
	cancel    context.CancelCauseFunc // called with a *partExit when a part ends for good
	ready     atomic.Bool             // from now on parts are started again, if wanted
	ended     chan string             // names of parts that are to be started again

	// With real nodes:
	tools   machine.Tools
	lock    *machine.Lock    // nil until it is taken
	machine *machine.Machine // nil until it is ready
}

// bringUp starts all parts and returns when the cluster is ready.
func (c *cluster) bringUp(ctx context.Context, dir string) error {
	began := time.Now()
	if err := c.prepareParts(dir); err != nil {
		return err
	}
	if err := c.start("etcd", "apiserver", "containerd"); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, readyLimit)
	defer stop()
	if err := c.loadPause(ctx); err != nil {
		return err
	}
	client, err := c.newClient()
	if err != nil {
		return err
	}
	if err := awaitServer(ctx, client); err != nil {
		return err
	}
	if err := c.start("controller-manager", "scheduler", "kwok", "kubelet", "kube-proxy", "router"); err != nil {
		return err
	}
	if err := c.createDefaults(ctx, client); err != nil {
		return err
	}
	if err := c.awaitParts(ctx, client); err != nil {
		return err
	}
	if err := os.WriteFile(c.pathTo("ready"), []byte(c.pathTo("kubeconfig")+"\n"), 0o600); err != nil {
		return fmt.Errorf("saying that the cluster is ready: %w", err)
	}
	fmt.Printf("ready after %.1f s: %s\n", time.Since(began).Seconds(), c.serverURL())
	fmt.Printf("KUBECONFIG=%s\n", c.pathTo("kubeconfig"))
	return nil
}

// prepareParts prepares the machine, and writes all files that the parts read.
func (c *cluster) prepareParts(dir string) (err error) {
	if c.state, err = openState(dir, c.node); err != nil {
		return err
	}
	c.state.plain, c.state.gates = c.options.plain, c.options.gates
	_ = os.Remove(c.pathTo("ready")) // left by one that was killed
	for _, step := range []func() error{c.writePid, c.prepareMachine, c.choosePorts, c.makeKeys, c.writeUsers, c.writeData, c.saveState} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// start starts those of the named parts that are wanted.
func (c *cluster) start(names ...string) error {
	for _, name := range names {
		if !c.has(name) {
			continue
		}
		for _, p := range c.partsOf(name) {
			running, err := c.startPart(p)
			if err != nil {
				return err
			}
			c.processes = append(c.processes, running)
			fmt.Printf("%-18s  pid %-7d  %s\n", p.name, running.cmd.Process.Pid, running.log)
		}
	}
	return nil
}

// startPart starts a part where it belongs.
func (c *cluster) startPart(p part) (running *process, err error) {
	p.program = cmp.Or(p.program, c.programOf(p.command))
	start := func() error {
		running, err = p.start(c.state.dir, c.partEnded)
		return err
	}
	if !p.ofNode {
		return running, start()
	}
	if err := c.machine.Do(start); err != nil {
		return nil, err
	}
	return running, c.machine.Adopt(running.cmd.Process.Pid)
}

// bringDown ends all parts. etcd is the last one, so that the last writes of all others arrive.
// What Pods run ends with their nodes.
func (c *cluster) bringDown() error {
	if c.state == nil {
		return nil
	}
	defer c.folder.Close() // not before: others take the folder once it is unlocked
	_ = os.Remove(c.pathTo("ready"))
	if len(c.processes) > 0 {
		stopProcesses(c.processes[1:])
		stopProcesses(c.processes[:1])
	}
	return c.restoreMachine()
}
