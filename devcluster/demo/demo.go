package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
	"time"
)

//go:embed try.txt
var tryText string

// A demo is one run: a cluster, an operator, and the examples.
type demo struct {
	once   bool
	limit  time.Duration
	cancel context.CancelCauseFunc // called with the reason when a process ends by itself
	screen *screen

	root, dir         string // absolute: the repository, and this run's folder
	cluster, operator *process
	client            *client
}

// run goes through the whole demo. When ctx is done it returns why.
func (d *demo) run(ctx context.Context) error {
	err := d.show(ctx)
	if err == nil && !d.once {
		<-ctx.Done()
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause // what was being done meanwhile failed because of it
	}
	return err
}

func (d *demo) show(ctx context.Context) error {
	steps := []func(context.Context) error{
		d.prepare, d.startCluster, d.applySchemas, d.startOperator, d.applyExamples,
		d.awaitReady, d.showTable, d.showTree, d.invite,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare finds everything that the demo needs, and takes a folder.
func (d *demo) prepare(context.Context) (err error) {
	if d.root, err = os.Getwd(); err != nil {
		return fmt.Errorf("finding the current folder: %w", err)
	}
	for _, need := range []string{".bin/devcluster", ".bin/kubectl", ".bin/jacquard", "crds", "templates", "examples"} {
		if _, err := os.Stat(filepath.Join(d.root, need)); err != nil {
			return fmt.Errorf("looking for %s, which `make demo` builds at the repository's root: %w", need, err)
		}
	}
	if d.dir, err = takeFolder(filepath.Join(d.root, ".demo")); err != nil {
		return err
	}
	d.screen.heading("Jacquard, on a Kubernetes of its own")
	return nil
}

func (d *demo) startCluster(ctx context.Context) (err error) {
	d.screen.step("starting Kubernetes with three simulated nodes; logs in %s", d.relative("log"))
	d.cluster, err = d.start(command{
		name: "devcluster",
		path: filepath.Join(d.root, ".bin", "devcluster"),
		args: []string{"up", "--dir", d.dir, "--nodes", "3", "--node-label", "node-0:daemon=logs",
			"--token", "jacquard=jacquard-operator:system:masters", "--until-stdin-closes"},
	})
	if err != nil {
		return err
	}
	err = poll(ctx, d.limit, func() error {
		_, err := os.Stat(filepath.Join(d.dir, "ready"))
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for the cluster: %w; the end of %s:\n%s", err, d.cluster.log, tail(d.cluster.log))
	}
	d.client, err = connect(d.kubeconfig())
	return err
}

// applySchemas installs the APIs of others that the examples want.
func (d *demo) applySchemas(ctx context.Context) error {
	objects, err := readObjects(filepath.Join(d.root, "schemas"))
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := d.client.apply(ctx, object); err != nil {
			return err
		}
		d.screen.step("installed %s", object.GetName())
	}
	return nil
}

func (d *demo) startOperator(ctx context.Context) error {
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	d.screen.step("starting the operator, which installs the CRDs of crds/")
	d.operator, err = d.start(command{
		name: "operator",
		path: filepath.Join(d.root, ".bin", "jacquard"),
		args: []string{"run", "--root", ".", "--install-crds", "--leader-elect=false",
			"--kubeconfig", filepath.Join(d.dir, "jacquard.kubeconfig"),
			"--metrics-bind-address=0", "--health-probe-bind-address=" + address},
	})
	return err
}

// applyExamples applies all examples; each waits until its CRD is served.
func (d *demo) applyExamples(ctx context.Context) error {
	objects, err := readObjects(filepath.Join(d.root, "examples"))
	if err != nil {
		return err
	}
	for _, object := range objects {
		err := poll(ctx, d.limit, func() error { return d.client.apply(ctx, object) })
		if err != nil {
			return d.withOperatorLog(err)
		}
		d.screen.step("applied %s", describe(object))
	}
	return nil
}

// invite says what to try, unless the demo ends now.
func (d *demo) invite(context.Context) error {
	if d.once {
		return nil
	}
	text, err := template.New("try.txt").Parse(tryText)
	if err != nil {
		return fmt.Errorf("reading what to try: %w", err)
	}
	d.screen.heading("Four things to try, in another terminal")
	return text.Execute(d.screen, map[string]string{
		"Kubeconfig": d.kubeconfig(), "Bin": filepath.Join(d.root, ".bin"),
		"Log": d.relative("log", "operator.log"), "Audit": d.relative("audit.log"),
	})
}

// down ends the operator, then the cluster, so that the operator's last words
// are not complaints.
func (d *demo) down() {
	if d.cluster == nil {
		return
	}
	if d.screen.terminal {
		fmt.Fprintln(d.screen) // the terminal has just shown ^C
	}
	d.screen.step("taking everything down; logs stay in %s", d.relative("log"))
	d.operator.stop()
	d.cluster.stop()
}

func (d *demo) kubeconfig() string { return filepath.Join(d.dir, "kubeconfig") }

// relative returns a path in the run's folder, relative to the repository.
func (d *demo) relative(elements ...string) string {
	path := filepath.Join(append([]string{d.dir}, elements...)...)
	if short, err := filepath.Rel(d.root, path); err == nil {
		return short
	}
	return path
}

func (d *demo) withOperatorLog(err error) error {
	return fmt.Errorf("%w\n\nthe end of %s:\n%s", err, d.relative("log", "operator.log"), tail(d.operator.log))
}

// poll asks until there is no error, ctx is done, or the limit has passed.
func poll(ctx context.Context, limit time.Duration, ask func() error) error {
	late := time.After(limit)
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-late:
			return fmt.Errorf("giving up after %s: %w", limit, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
