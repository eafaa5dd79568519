package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
)

//go:embed try.txt
var tryText string

// A demo is one run: a cluster, an operator, and the examples.
type demo struct {
	once   bool
	ui     bool // is shown, by page
	limit  time.Duration
	cancel context.CancelCauseFunc // called with the reason when a process ends by itself
	screen *screen

	outside           string // the kubeconfig of a cluster that there is; "": one is started
	root, dir         string // absolute: the repository, and this run's folder
	cluster, operator *process
	kubectl           *process // builds it
	page              *process // jacquard ui
	address           string   // of its page, for a person
	client            *client
	// kinds are the names of those whose examples are applied; made says that there
	// is something to remove from a cluster that there is.
	kinds []string
	made  bool
	// edited: somebody changed the kind that the demo made for them.
	edited bool
}

// run goes through the whole demo. When ctx is done it returns why.
func (d *demo) run(ctx context.Context) error {
	err := d.runSteps(ctx)
	if err == nil && !d.once {
		d.followEdits(ctx)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause // what was being done meanwhile failed because of it
	}
	return err
}

// runSteps runs the steps of the demo, one after the other.
func (d *demo) runSteps(ctx context.Context) error {
	begin := []func(context.Context) error{d.startCluster, d.applySchemas, d.startOperator, d.showPage, d.buildKubectl}
	if d.outside != "" {
		begin = []func(context.Context) error{d.enterCluster, d.chooseKinds, d.startOperator, d.showPage}
	}
	steps := slices.Concat([]func(context.Context) error{d.prepareFolder}, begin, []func(context.Context) error{
		d.applyExamples, d.awaitReady, d.showTable, d.showTree, d.bringBack, d.rollOut, d.makeYours, d.printNextSteps,
	})
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepareFolder finds everything that the demo needs, and takes a folder.
func (d *demo) prepareFolder(context.Context) (err error) {
	if d.root, err = os.Getwd(); err != nil {
		return fmt.Errorf("finding the current folder: %w", err)
	}
	needs := []string{".bin/jacquard", "crds", "templates", "examples"}
	if d.outside == "" {
		needs = append(needs, ".bin/devcluster")
	}
	for _, need := range needs {
		if _, err := os.Stat(filepath.Join(d.root, need)); err != nil {
			return fmt.Errorf("looking for %s, which `make demo` builds at the repository's root: %w", need, err)
		}
	}
	if d.dir, err = takeFolder(filepath.Join(d.root, ".demo")); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(d.dir, "site"), os.DirFS(filepath.Join(d.root, "devcluster", "demo", "site"))); err != nil {
		return fmt.Errorf("copying a kind: %w", err)
	}
	for _, part := range []string{"yours/crds", "yours/templates"} {
		if err := os.MkdirAll(filepath.Join(d.dir, part), 0o755); err != nil {
			return fmt.Errorf("making the folder of your kind: %w", err)
		}
	}
	files, err := filepath.Glob(filepath.Join(d.root, "crds", "*.yaml"))
	for _, file := range files {
		d.kinds = append(d.kinds, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	if d.outside == "" {
		d.screen.printHeading("Jacquard, on a Kubernetes of its own")
	}
	return err
}

func (d *demo) startCluster(ctx context.Context) (err error) {
	d.screen.printStep("starting Kubernetes with three simulated nodes; logs in %s", d.relativePath("log"))
	d.cluster, err = d.start(command{
		name: "devcluster",
		path: filepath.Join(d.root, ".bin", "devcluster"),
		args: []string{"up", "--dir", d.dir, "--nodes", "3", "--node-label", "node-0:daemon=logs",
			"--token", "jacquard=jacquard-operator:system:masters", "--until-stdin-closes"},
	})
	if err != nil {
		return err
	}
	err = awaitSuccess(ctx, d.limit, func() error {
		_, err := os.Stat(filepath.Join(d.dir, "ready"))
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for the cluster: %w; the end of %s:\n%s", err, d.cluster.log, readTail(d.cluster.log))
	}
	d.client, err = newClient(d.kubeconfigPath())
	return err
}

// applySchemas installs the APIs of others that the examples want.
func (d *demo) applySchemas(ctx context.Context) error {
	objects, err := readObjects(filepath.Join(d.root, "schemas"))
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := d.client.applyObject(ctx, object); err != nil {
			return err
		}
		d.screen.printStep("installed %s", object.GetName())
	}
	return nil
}

// kindsRoot is where the operator has the shipped kinds from.
func (d *demo) kindsRoot() string {
	if d.outside != "" {
		return d.relativePath("kinds")
	}
	return "."
}

func (d *demo) startOperator(ctx context.Context) error {
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	args := []string{"--root", d.kindsRoot(), "--install-crds", "--kubeconfig", filepath.Join(d.dir, "jacquard.kubeconfig")}
	if d.outside != "" {
		args = []string{"--root", d.kindsRoot(), "--kubeconfig", d.outside, "--installation", ownName + "/demo", "--namespaces", ownName}
		d.screen.printStep("starting the operator here, for the namespace %s", ownName)
	} else {
		d.screen.printStep("starting the operator, which installs the CRDs of crds/")
	}
	d.operator, err = d.start(command{
		name: "operator",
		path: filepath.Join(d.root, ".bin", "jacquard"),
		args: append([]string{"run", "--root", d.relativePath("site"), "--root", d.relativePath("yours"),
			"--metrics-bind-address=0", "--health-probe-bind-address=" + address}, args...),
	})
	return err
}

// applyExamples applies all examples; each waits until its CRD is served.
func (d *demo) applyExamples(ctx context.Context) error {
	for _, name := range d.kinds {
		objects, err := readFile(filepath.Join(d.root, "examples", name+".yaml"))
		if err != nil {
			return fmt.Errorf("reading the example of %s: %w", name, err)
		}
		for _, object := range objects {
			if d.outside != "" && object.GetKind() == "Namespace" {
				continue
			}
			if err := awaitSuccess(ctx, d.limit, func() error { return d.client.applyObject(ctx, object) }); err != nil {
				return d.withOperatorLog(err)
			}
			d.screen.printStep("applied %s", describeObject(object))
		}
	}
	return nil
}

// printNextSteps prints what to try, unless the demo ends now.
func (d *demo) printNextSteps(ctx context.Context) error {
	if d.once {
		return nil
	}
	if err := d.awaitKubectl(ctx); err != nil {
		return err
	}
	text, err := template.New("try.txt").Parse(tryText)
	if err != nil {
		return fmt.Errorf("reading what to try: %w", err)
	}
	d.screen.printHeading("Go on")
	return text.Execute(d.screen, map[string]string{
		"Kubeconfig": d.kubeconfigPath(), "Bin": filepath.Join(d.root, ".bin"), "Namespace": d.client.namespace,
		"Page": d.address,
		"Log":  d.relativePath("log", "operator.log"), "Audit": d.relativePath("audit.log"),
		"Template": filepath.Join(d.dir, "yours", "templates", yourKind, "configmap.yaml"),
		"Site":     d.relativePath("site", "templates", siteKind, "deployment.yaml"),
	})
}

// takeDown ends the operator before the cluster, so that the operator's last log lines are no
// complaints. If something went wrong, the logs stay. why is the reason for the end.
func (d *demo) takeDown(why error) error {
	if d.dir == "" {
		return nil
	}
	if d.screen.terminal && d.operator != nil {
		fmt.Fprintln(d.screen) // the terminal has just shown ^C
	}
	var err error
	if d.made {
		err = d.cleanUpCluster()
	}
	if d.cluster != nil {
		d.screen.printStep("taking everything down")
	}
	d.kubectl.stop()
	d.page.stop()
	d.operator.stop()
	d.cluster.stop()
	err = errors.Join(err, d.keepEdited())
	if started := d.operator != nil || d.cluster != nil; err != nil || started && why != nil && !errors.Is(why, errAsked) {
		d.screen.printStep("logs stay in %s", d.relativePath("log"))
		return err
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return fmt.Errorf("removing %s: %w", d.dir, err)
	}
	return nil
}

// kubeconfigPath returns the kubeconfig of the cluster that the demo uses.
func (d *demo) kubeconfigPath() string { return cmp.Or(d.outside, filepath.Join(d.dir, "kubeconfig")) }

// relativePath returns a path in the run's folder, relative to the repository.
func (d *demo) relativePath(elements ...string) string {
	path := filepath.Join(append([]string{d.dir}, elements...)...)
	if short, err := filepath.Rel(d.root, path); err == nil {
		return short
	}
	return path
}

func (d *demo) withOperatorLog(err error) error {
	return fmt.Errorf("%w\n\nthe end of %s:\n%s", err, d.relativePath("log", "operator.log"), readTail(d.operator.log))
}

// awaitSuccess calls ask until it returns no error, ctx is done, or the limit has passed.
func awaitSuccess(ctx context.Context, limit time.Duration, ask func() error) error {
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
