package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"syscall"
)

// buildKubectl builds kubectl while the demo runs: nobody types it before all is
// shown. It must be called from the main goroutine.
func (d *demo) buildKubectl(ctx context.Context) error {
	if d.once || d.outside != "" {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, "nice", "devcluster/build", "kubectl")
	cmd.Dir, cmd.SysProcAttr = d.root, childAttributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // with all that it started
	cmd.WaitDelay = stopGrace
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		cancel()
		return fmt.Errorf("building kubectl: %w", err)
	}
	done := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if err != nil {
			err = fmt.Errorf("building kubectl: %w\n%s", err, lastLines(out.String()))
		}
		done <- err
		close(done)
	}()
	d.awaitKubectl = func() error {
		if len(done) == 0 {
			d.screen.step("kubectl is still being compiled")
		}
		return <-done
	}
	d.stopKubectl = func() {
		cancel()
		<-done
	}
	return nil
}
