// Command handwritten is the baseline: the operator a competent engineer would
// write by hand for the App kind. Reads come from the informers' caches, and
// writes are made only when something differs.
package main

import (
	"context"
	"flag"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/jacquard-operator/jacquard/bench/appv1"
)

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

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	app := &appv1.App{}
	if err := r.client.Get(ctx, req.NamespacedName, app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !app.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // the children are garbage collected
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: app.Name, Namespace: app.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.client, deployment, func() error {
		mutateDeployment(app, deployment)
		return controllerutil.SetControllerReference(app, deployment, r.client.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: app.Name, Namespace: app.Namespace}}
	_, err = controllerutil.CreateOrUpdate(ctx, r.client, service, func() error {
		mutateService(app, service)
		return controllerutil.SetControllerReference(app, service, r.client.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.updateStatus(ctx, app, deployment)
}

func selectorLabels(app *appv1.App) map[string]string {
	return map[string]string{"app.kubernetes.io/name": app.Name}
}

func setLabels(object client.Object, labels map[string]string) {
	all := object.GetLabels()
	if all == nil {
		all = map[string]string{}
	}
	for k, v := range labels {
		all[k] = v
	}
	object.SetLabels(all)
}

// mutateDeployment sets the fields the App decides on and leaves what the API
// server has filled in, so that an unchanged Deployment compares equal.
func mutateDeployment(app *appv1.App, d *appsv1.Deployment) {
	labels := selectorLabels(app)
	setLabels(d, labels)
	d.Spec.Replicas = app.Spec.Replicas
	if d.CreationTimestamp.IsZero() {
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels} // immutable
	}
	d.Spec.Template.Labels = labels
	if len(d.Spec.Template.Spec.Containers) != 1 {
		d.Spec.Template.Spec.Containers = make([]corev1.Container, 1)
	}
	c := &d.Spec.Template.Spec.Containers[0]
	c.Name = "app"
	c.Image = app.Spec.Image
	c.Env = app.Spec.Envs
	c.Resources = app.Spec.Resources
	c.Ports = make([]corev1.ContainerPort, 0, len(app.Spec.Ports))
	for _, p := range app.Spec.Ports {
		c.Ports = append(c.Ports, corev1.ContainerPort{Name: p.Name, ContainerPort: targetPort(p), Protocol: protocol(p)})
	}
}

func mutateService(app *appv1.App, s *corev1.Service) {
	labels := selectorLabels(app)
	setLabels(s, labels)
	s.Spec.Selector = labels
	ports := make([]corev1.ServicePort, 0, len(app.Spec.Ports))
	for _, p := range app.Spec.Ports {
		ports = append(ports, corev1.ServicePort{
			Name: p.Name, Port: p.Port, TargetPort: intstr.FromInt32(targetPort(p)), Protocol: protocol(p),
		})
	}
	s.Spec.Ports = ports
}

func targetPort(p corev1.ServicePort) int32 {
	if p.TargetPort.Type == intstr.Int && p.TargetPort.IntVal != 0 {
		return p.TargetPort.IntVal
	}
	return p.Port
}

func protocol(p corev1.ServicePort) corev1.Protocol {
	if p.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return p.Protocol
}

func (r *reconciler) updateStatus(ctx context.Context, app *appv1.App, d *appsv1.Deployment) error {
	before := app.DeepCopy()
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Progressing", ObservedGeneration: app.Generation}
	if app.Spec.Replicas != nil && d.Status.ReadyReplicas >= *app.Spec.Replicas {
		ready.Status, ready.Reason = metav1.ConditionTrue, "Available"
	}
	app.Status.ObservedGeneration = app.Generation
	app.Status.ReadyReplicas = d.Status.ReadyReplicas
	meta.SetStatusCondition(&app.Status.Conditions, ready)
	if equality.Semantic.DeepEqual(before.Status, app.Status) {
		return nil
	}
	return r.client.Status().Patch(ctx, app, client.MergeFrom(before))
}
