//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/admin/trial"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// A trialOptions is how cases run on a cluster.
type trialOptions struct {
	access
	live, installCRDs bool
	limit             time.Duration
}

// addFlags adds the flags of cases that run on a cluster.
func (o *trialOptions) addFlags(cmd *cobra.Command) {
	o.access.addFlags(cmd)
	cmd.Flags().BoolVar(&o.live, "live", false, "run the cases on the cluster of --context or --kubeconfig")
	cmd.Flags().BoolVar(&o.installCRDs, "install-crds", false, "with --live: apply the CRDs of crds/ that the cluster does not have")
	cmd.Flags().DurationVar(&o.limit, "timeout", 5*time.Minute, "with --live: how long each change of a case may take")
}

// checkFlags refuses flags that do not go together, and a timeout that is not positive.
func (o *trialOptions) checkFlags(offline bool) error {
	named := o.context != "" || o.kubeconfig != ""
	switch {
	case o.live && offline:
		return errors.New("--live excludes --update and --coverage")
	case o.live && !named:
		return errors.New("--live writes to a cluster: name it by --context or --kubeconfig")
	case !o.live && (named || o.installCRDs):
		return errors.New("--context, --kubeconfig and --install-crds need --live")
	case o.limit <= 0:
		return errors.New("--timeout must be positive")
	}
	return nil
}

// casesAtOnce is how many cases run on a cluster at the same time.
const casesAtOnce = 8

// runLive runs all cases on a cluster, several at once.
func (o *testOptions) runLive(ctx context.Context, r *testReport) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := o.cluster.clientConfig()
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return fmt.Errorf("making an HTTP client: %w", err)
	}
	writer, err := apply.NewWriter(cfg, client)
	if err != nil {
		return err
	}
	var errs []error
	var group sync.WaitGroup
	room := make(chan struct{}, casesAtOnce)
	for _, k := range r.kinds {
		if len(k.cases) == 0 {
			continue
		}
		if !o.catalog.Kinds[k.Name].CRD.Namespaced {
			o.runOffline(ctx, k.cases, "its kind is cluster-scoped: a case on a cluster stays in a namespace of its own")
			continue
		}
		with, err := o.kindOnCluster(ctx, cfg, writer, o.catalog.Kinds[k.Name])
		if err != nil {
			k.broken, k.cases = err, nil
			errs = append(errs, err)
			continue
		}
		for _, steps := range k.byFolder() {
			room <- struct{}{}
			group.Go(func() {
				defer func() { <-room }()
				o.runSteps(ctx, &trial.Trial{Sight: with, Writer: writer, Limit: o.cluster.limit}, steps)
			})
		}
	}
	group.Wait()
	return errors.Join(errs...)
}

// byFolder returns the cases of a kind, those that are steps of one together.
func (k *testedKind) byFolder() (all [][]*testedCase) {
	for i, c := range k.cases {
		if i == 0 || k.cases[i-1].one.Dir != c.one.Dir {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], c)
	}
	return all
}

// kindOnCluster looks at a kind as a cluster serves it.
func (o *testOptions) kindOnCluster(ctx context.Context, cfg *rest.Config, writer *apply.Writer, k *kind.Kind) (diff.Sight, error) {
	survey, err := o.cluster.awaitServed(ctx, cfg, writer, k)
	if err != nil {
		return diff.Sight{}, err
	}
	return (&sight{Survey: survey, catalog: o.catalog}).compileFolder(ctx, k.Name)
}

// awaitServed looks at a cluster until it serves a kind. It first applies the CRD where that may be
// done.
func (o *trialOptions) awaitServed(ctx context.Context, cfg *rest.Config, writer *apply.Writer, k *kind.Kind) (*liveview.Survey, error) {
	installed := false
	for deadline := time.Now().Add(o.limit); ; {
		survey, err := liveview.Open(ctx, cfg, nil)
		if err != nil {
			return nil, err
		}
		_, served := survey.Served().Resource(k.GVK)
		switch {
		case served:
			return survey, nil
		case !o.installCRDs:
			return nil, fmt.Errorf("%s: the cluster does not serve it: run kubectl apply --server-side -f %s, or give --install-crds",
				k.Name, filepath.Join("crds", k.Name+".yaml"))
		case !installed:
			if err := installCRD(ctx, writer, k); err != nil {
				return nil, err
			}
			installed = true
		}
		if time.Now().After(deadline) || !awaitNextLook(ctx) {
			return nil, fmt.Errorf("%s: the cluster does not serve it after %s", k.Name, o.limit)
		}
	}
}

// installCRD applies the CRD of a kind that is not there.
func installCRD(ctx context.Context, writer *apply.Writer, k *kind.Kind) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(k.CRD.Object)
	if err != nil {
		return fmt.Errorf("reading CRD %s: %w", k.Name, err)
	}
	crd := &unstructured.Unstructured{Object: fields}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	delete(crd.Object, "status")
	unstructured.RemoveNestedField(crd.Object, "metadata", "creationTimestamp")
	return apply.CRDsOf(writer).Install(ctx, crd, func(*unstructured.Unstructured) error {
		return fmt.Errorf("%s: the cluster has its CRD, and does not serve %s: apply the CRD of this folder", k.Name, k.GVK.GroupVersion())
	})
}

// runOffline runs cases without a cluster, and skips those that pass. It reports whether
// all do.
func (o *testOptions) runOffline(ctx context.Context, cases []*testedCase, skip string) bool {
	passed := true
	for _, c := range cases {
		c.run(ctx, o)
		passed = passed && !c.hasFailed()
		if !c.hasFailed() {
			c.skipped = skip
		}
	}
	return passed
}

// runSteps runs the steps of a case without a cluster and, if all pass, on the cluster.
func (o *testOptions) runSteps(ctx context.Context, t *trial.Trial, steps []*testedCase) {
	begun := time.Now()
	if !o.runOffline(ctx, steps, "another step does not pass, even without a cluster") {
		return
	}
	for _, c := range steps {
		c.skipped = ""
	}
	last := runOnCluster(ctx, t, steps)
	if err := t.End(context.WithoutCancel(ctx)); err != nil {
		last.findings = append(last.findings, err.Error())
	}
	if len(steps) == 1 {
		last.took = time.Since(begun)
	}
}

// runOnCluster runs the steps of a case on a cluster. It returns the last that ran.
func runOnCluster(ctx context.Context, t *trial.Trial, steps []*testedCase) *testedCase {
	last := steps[len(steps)-1]
	err := t.Begin(ctx)
	for i, c := range steps {
		begun := time.Now()
		if err == nil {
			err = t.Step(ctx, c.one)
		}
		c.took = time.Since(begun)
		if err == nil {
			continue
		}
		for _, later := range steps[i+1:] {
			later.skipped = "an earlier step did not pass"
		}
		last = c
		break
	}
	if err == nil {
		err = t.Drift(ctx, last.one)
	}
	if err == nil {
		err = t.Leave(ctx)
	}
	if unfit := (trial.UnfitError{}); errors.As(err, &unfit) {
		last.skipped = unfit.Error()
	} else if err != nil {
		last.findings = append(last.findings, err.Error())
	}
	return last
}
