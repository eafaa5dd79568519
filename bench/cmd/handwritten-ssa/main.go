// Command handwritten-ssa is the second baseline: the operator of
// cmd/handwritten, with children and status written by server-side apply of
// typed apply configurations. Reads come from the informers' caches, and an
// apply is sent only if the live object's own entry for this field manager says
// something else.
package main

import (
	"context"
	"flag"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/jacquard-operator/jacquard/bench/appv1"
)

// fieldManager is the operator's name in managedFields.
const fieldManager = "handwritten-ssa"

func main() {
	concurrency := flag.Int("concurrency", 1, "number of Apps reconciled at a time")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*concurrency); err != nil {
		ctrl.Log.Error(err, "operator ended")
		os.Exit(1)
	}
}

func run(concurrency int) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := appv1.AddToScheme(scheme); err != nil {
		return err
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	cfg.DisableCompression = true // as in what is compared with this
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "127.0.0.1:0"},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).
		For(&appv1.App{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(&reconciler{client: mgr.GetClient()})
	if err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

type reconciler struct{ client client.Client }

// Reconcile applies the children of an App and its status where they differ.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	app := &appv1.App{}
	if err := r.client.Get(ctx, req.NamespacedName, app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !app.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // the children are garbage collected
	}
	live := &appsv1.Deployment{}
	if err := r.client.Get(ctx, req.NamespacedName, live); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err := r.applyDeployment(ctx, app, live); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.applyService(ctx, app); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.applyStatus(ctx, app, live)
}

func (r *reconciler) applyStatus(ctx context.Context, app *appv1.App, d *appsv1.Deployment) error {
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Progressing", ObservedGeneration: app.Generation}
	if app.Spec.Replicas != nil && d.Status.ReadyReplicas >= *app.Spec.Replicas {
		ready.Status, ready.Reason = metav1.ConditionTrue, "Available"
	}
	conditions := append([]metav1.Condition(nil), app.Status.Conditions...)
	changed := apimeta.SetStatusCondition(&conditions, ready)
	if !changed && app.Status.ObservedGeneration == app.Generation && app.Status.ReadyReplicas == d.Status.ReadyReplicas {
		return nil
	}
	return r.client.Status().Apply(ctx, statusOf(app, d.Status.ReadyReplicas, conditions),
		client.ForceOwnership, client.FieldOwner(fieldManager))
}
