package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/bench/appv1"
)

// applyDeployment applies the App's Deployment unless the live one has it all.
func (r *reconciler) applyDeployment(ctx context.Context, app *appv1.App, live *appsv1.Deployment) error {
	labels := map[string]string{"app.kubernetes.io/name": app.Name}
	ports := make([]*corev1ac.ContainerPortApplyConfiguration, 0, len(app.Spec.Ports))
	for _, p := range app.Spec.Ports {
		ports = append(ports, corev1ac.ContainerPort().WithName(p.Name).WithContainerPort(targetPort(p)).WithProtocol(protocol(p)))
	}
	envs := make([]*corev1ac.EnvVarApplyConfiguration, 0, len(app.Spec.Envs))
	for _, e := range app.Spec.Envs {
		envs = append(envs, corev1ac.EnvVar().WithName(e.Name).WithValue(e.Value))
	}
	container := corev1ac.Container().WithName("app").WithImage(app.Spec.Image).WithPorts(ports...).WithEnv(envs...).
		WithResources(corev1ac.ResourceRequirements().WithLimits(app.Spec.Resources.Limits).WithRequests(app.Spec.Resources.Requests))
	spec := appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(corev1ac.PodSpec().WithContainers(container)))
	if app.Spec.Replicas != nil {
		spec.WithReplicas(*app.Spec.Replicas)
	}
	wanted := appsv1ac.Deployment(app.Name, app.Namespace).WithLabels(labels).WithOwnerReferences(ownerOf(app)).WithSpec(spec)
	if live.UID != "" {
		has, err := appsv1ac.ExtractDeployment(live, fieldManager)
		if err != nil {
			return err
		}
		if equality.Semantic.DeepEqual(has, wanted) {
			return nil
		}
	}
	return r.client.Apply(ctx, wanted, client.ForceOwnership, client.FieldOwner(fieldManager))
}

// applyService applies the App's Service unless the live one has it all.
func (r *reconciler) applyService(ctx context.Context, app *appv1.App) error {
	labels := map[string]string{"app.kubernetes.io/name": app.Name}
	ports := make([]*corev1ac.ServicePortApplyConfiguration, 0, len(app.Spec.Ports))
	for _, p := range app.Spec.Ports {
		ports = append(ports, corev1ac.ServicePort().WithName(p.Name).WithPort(p.Port).
			WithTargetPort(intstr.FromInt32(targetPort(p))).WithProtocol(protocol(p)))
	}
	wanted := corev1ac.Service(app.Name, app.Namespace).WithLabels(labels).WithOwnerReferences(ownerOf(app)).
		WithSpec(corev1ac.ServiceSpec().WithSelector(labels).WithPorts(ports...))
	live := &corev1.Service{}
	err := r.client.Get(ctx, client.ObjectKey{Namespace: app.Namespace, Name: app.Name}, live)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err == nil {
		has, err := corev1ac.ExtractService(live, fieldManager)
		if err != nil {
			return err
		}
		if equality.Semantic.DeepEqual(has, wanted) {
			return nil
		}
	}
	return r.client.Apply(ctx, wanted, client.ForceOwnership, client.FieldOwner(fieldManager))
}

// ownerOf is the controller reference to the App.
func ownerOf(app *appv1.App) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().WithAPIVersion(appv1.GroupVersion.String()).WithKind("App").
		WithName(app.Name).WithUID(app.UID).WithController(true).WithBlockOwnerDeletion(true)
}

// statusOf is the App's status as an apply configuration; the kind has no
// generated one, so it is written out.
func statusOf(app *appv1.App, readyReplicas int32, conditions []metav1.Condition) runtime.ApplyConfiguration {
	list := make([]any, 0, len(conditions))
	for _, c := range conditions {
		list = append(list, map[string]any{
			"type": c.Type, "status": string(c.Status), "reason": c.Reason, "message": c.Message,
			"observedGeneration": c.ObservedGeneration, "lastTransitionTime": c.LastTransitionTime.UTC().Format("2006-01-02T15:04:05Z"),
		})
	}
	return client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": appv1.GroupVersion.String(), "kind": "App",
		"metadata": map[string]any{"name": app.Name, "namespace": app.Namespace},
		"status": map[string]any{
			"observedGeneration": app.Generation, "readyReplicas": int64(readyReplicas), "conditions": list,
		},
	}})
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
