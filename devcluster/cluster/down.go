package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jacquard-operator/jacquard/devcluster/machine"
)

// Down is `devcluster down`: it asks a running cluster to end and waits for
// that, and puts back what a killed one changed of this machine.
func Down(args []string) error {
	flags := flag.NewFlagSet("devcluster down", flag.ContinueOnError)
	dir := flags.String("dir", "", "the cluster's `DIR`; by default that of the cluster of real nodes on this machine")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *dir == "" {
		if *dir = machine.Left(); *dir == "" {
			fmt.Println("there is no cluster of real nodes on this machine")
			return nil
		}
	}
	path, err := filepath.Abs(*dir)
	if err != nil {
		return fmt.Errorf("finding %s: %w", *dir, err)
	}
	if err := endRunning(path); err != nil {
		return err
	}
	return undoChanges(path)
}

// endRunning ends the cluster of a folder, if it runs.
func endRunning(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
		return nil // nobody had a cluster there, or its folder is gone
	}
	if lock, err := lockFolder(dir); err == nil {
		lock.Close()
		return nil
	}
	pid, err := readPid(dir)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil { // once: the second ends it on the spot
		return fmt.Errorf("ending process %d: %w", pid, err)
	}
	ctx, stop := context.WithTimeout(context.Background(), readyLimit)
	defer stop()
	return awaitSuccess(ctx, "the end of the cluster in "+dir, func() error {
		lock, err := lockFolder(dir)
		if err == nil {
			lock.Close()
		}
		return err
	})
}

// undoChanges undoes what the dead cluster of a folder changed of this machine.
func undoChanges(dir string) error {
	if !machine.Changed(dir) {
		return nil
	}
	if _, err := machine.Check(""); err != nil {
		return err
	}
	lock, err := machine.Take()
	if err != nil {
		return err
	}
	defer lock.Release()
	fmt.Printf("putting back what the cluster in %s changed of this machine\n", dir)
	return machine.Restore(dir)
}

// writePid writes down which process has the folder's lock.
func (s *state) writePid() error {
	if err := os.WriteFile(s.pathTo("pid"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return fmt.Errorf("writing the process's id: %w", err)
	}
	return nil
}

// readPid reads which process has the folder's lock. It must be a devcluster.
func readPid(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		return 0, fmt.Errorf("reading the process's id: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("reading the process's id: %q is none", text)
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err == nil && !strings.HasPrefix(filepath.Base(program), "devcluster") {
		return 0, fmt.Errorf("process %d is not devcluster but %s", pid, program)
	}
	return pid, nil
}
