package main

import "context"

// buildKubectl builds kubectl while the demo runs: nobody types it before all is
// shown. It must be called from the main goroutine.
func (d *demo) buildKubectl(context.Context) (err error) {
	if d.once {
		return nil
	}
	d.kubectl, err = d.start(command{name: "kubectl", path: "nice", args: []string{"devcluster/build", "kubectl"}, ends: true})
	return err
}

// awaitKubectl returns when kubectl is there. If it is not built, all else can
// be tried.
func (d *demo) awaitKubectl(ctx context.Context) error {
	if d.kubectl == nil {
		return nil
	}
	select {
	case <-d.kubectl.done:
	default:
		d.screen.printStep("kubectl is still being compiled")
	}
	select {
	case <-d.kubectl.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !d.kubectl.cmd.ProcessState.Success() {
		d.screen.printStep("kubectl is not built; the end of %s:\n%s", d.kubectl.log, readTail(d.kubectl.log))
	}
	return nil
}
