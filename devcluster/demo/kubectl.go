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
	done := make(chan struct{})
	var err error // once it is done
	go func() {
		defer close(done)
		if err = cmd.Wait(); err != nil {
			err = fmt.Errorf("building kubectl: %w\n%s", err, lastLines(out.String()))
		}
	}()
	d.awaitKubectl = func() error {
		select {
		case <-done:
		default:
			d.screen.step("kubectl is still being compiled")
			<-done
		}
		return err
	}
	d.stopKubectl = func() {
		cancel()
		<-done
	}
	return nil
}
