package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

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

func (o *trialOptions) flags(cmd *cobra.Command) {
	o.access.flags(cmd)
	cmd.Flags().BoolVar(&o.live, "live", false, "run the cases on the cluster of --context or --kubeconfig")
	cmd.Flags().BoolVar(&o.installCRDs, "install-crds", false, "with --live: apply the CRDs of crds/ that the cluster does not have")
	cmd.Flags().DurationVar(&o.limit, "timeout", 5*time.Minute, "with --live: how long each change of a case may take")
}

func (o *trialOptions) check(offline bool) error {
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

// runLive runs all cases on a cluster, one after the other.
func (o *testOptions) runLive(ctx context.Context, r *testReport) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := o.cluster.config()
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
	for _, k := range r.kinds {
		if len(k.cases) == 0 {
			continue
		}
		survey, err := o.cluster.served(ctx, cfg, writer, o.catalog.Kinds[k.Name])
		if err != nil {
			k.broken = err
			return err
		}
		for begin, c := range k.cases {
			if begin > 0 && k.cases[begin-1].one.Dir == c.one.Dir {
				continue
			}
			end := begin + 1
			for end < len(k.cases) && k.cases[end].one.Dir == c.one.Dir {
				end++
			}
			runSteps(ctx, &trial.Trial{Survey: survey, Writer: writer, Limit: o.cluster.limit}, k.cases[begin:end])
		}
	}
	return nil
}

// served looks at a cluster that serves a kind, after its CRD was applied where that
// may be done.
func (o *trialOptions) served(ctx context.Context, cfg *rest.Config, writer *apply.Writer, k *kind.Kind) (*liveview.Survey, error) {
	if !k.CRD.Namespaced {
		return nil, fmt.Errorf("%s: its resources are not in a namespace, so its cases cannot run in one of their own", k.Name)
	}
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
			if err := install(ctx, writer, k); err != nil {
				return nil, err
			}
			installed = true
		}
		if time.Now().After(deadline) || !pause(ctx) {
			return nil, fmt.Errorf("%s: the cluster does not serve it after %s", k.Name, o.limit)
		}
	}
}

// install applies the CRD of a kind that is not there.
func install(ctx context.Context, writer *apply.Writer, k *kind.Kind) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(k.CRD.Object)
	if err != nil {
		return fmt.Errorf("reading CRD %s: %w", k.Name, err)
	}
	crd := &unstructured.Unstructured{Object: fields}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	delete(crd.Object, "status")
	unstructured.RemoveNestedField(crd.Object, "metadata", "creationTimestamp")
	return writer.InstallCRD(ctx, crd, func(*unstructured.Unstructured) error {
		return fmt.Errorf("%s: the cluster has its CRD, and does not serve %s: apply the CRD of this folder", k.Name, k.GVK.GroupVersion())
	})
}

// runSteps runs the steps of a case on a cluster.
func runSteps(ctx context.Context, t *trial.Trial, steps []*testedCase) {
	begun := time.Now()
	last := steps[len(steps)-1]
	err := t.Begin(ctx)
	for _, c := range steps {
		at := time.Now()
		if err == nil {
			err = t.Step(ctx, c.one)
			if err != nil {
				last = c
			}
		} else if c != last {
			c.skipped = "an earlier step did not pass"
		}
		c.took = time.Since(at)
	}
	if unfit := (trial.UnfitError{}); errors.As(err, &unfit) {
		last.skipped, err = unfit.Error(), t.End(context.WithoutCancel(ctx))
		last.findings = lines(err)
		return
	}
	if err == nil {
		err = t.Drift(ctx, last.one)
	}
	if err == nil {
		err = t.Leave(ctx)
	}
	last.findings = append(last.findings, lines(errors.Join(err, t.End(context.WithoutCancel(ctx))))...)
	if len(steps) == 1 {
		last.took = time.Since(begun)
	}
}
