package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// newClient returns a client that is the cluster's admin.
func (c *cluster) newClient() (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.pathTo("kubeconfig"))
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1 // no limit of our own
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return client, nil
}

// createDefaults creates what every cluster begins with: simulated Nodes and, for their volumes, a
// StorageClass. Nodes with a kubelet create themselves, and are only labelled.
func (c *cluster) createDefaults(ctx context.Context, client *kubernetes.Clientset) error {
	if c.has("kubelet") {
		return c.labelNodes(ctx, client)
	}
	if !c.has("kwok") {
		return nil
	}
	for i := range c.nodes {
		node := newNode(i, c.labels[nodeName(i)])
		err := awaitSuccess(ctx, "creating Node "+node.Name, func() error {
			_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
			return ignoreExists(err)
		})
		if err != nil {
			return err
		}
	}
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "kwok-volume", // the stages' own name for it
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: "kwok.x-k8s.io/volume",
	}
	return awaitSuccess(ctx, "creating StorageClass "+class.Name, func() error {
		_, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
		return ignoreExists(err)
	})
}

// ignoreExists passes over what a cluster that starts again has already.
func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

func newNode(i int, labels map[string]string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: nodeName(i),
		Labels: map[string]string{
			corev1.LabelHostname:   nodeName(i),
			corev1.LabelArchStable: "amd64",
			corev1.LabelOSStable:   "linux",
		},
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
	}}
	for key, value := range labels {
		node.Labels[key] = value
	}
	return node
}

// awaitServer waits until the API server says that it is ready.
func awaitServer(ctx context.Context, client *kubernetes.Clientset) error {
	return awaitSuccess(ctx, "the API server", func() error {
		return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// awaitParts waits until the parts have done what later users count on.
func (c *cluster) awaitParts(ctx context.Context, client *kubernetes.Clientset) error {
	if c.has("controller-manager") {
		if err := awaitSuccess(ctx, "the controllers", func() error { return controllersReady(ctx, client) }); err != nil {
			return err
		}
	}
	if !c.has("kwok") && !c.has("kubelet") {
		return nil
	}
	for i := range c.nodes {
		err := awaitSuccess(ctx, nodeName(i), func() error { return c.nodeReady(ctx, client, nodeName(i)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// controllersReady looks for what Pods and grants need: the default
// ServiceAccount, the root certificate, and the aggregated ClusterRoles.
func controllersReady(ctx context.Context, client *kubernetes.Clientset) error {
	if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return err
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{}); err != nil {
		return err
	}
	for _, name := range []string{"view", "edit", "admin"} {
		role, err := client.RbacV1().ClusterRoles().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(role.Rules) == 0 {
			return fmt.Errorf("ClusterRole %s is not aggregated yet", name)
		}
	}
	return nil
}

// nodeReady wants the Node Ready and open for Pods.
func (c *cluster) nodeReady(ctx context.Context, client *kubernetes.Clientset, name string) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	ready := slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	})
	if !ready {
		return fmt.Errorf("it is not Ready")
	}
	closed := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == corev1.TaintNodeNotReady
	})
	if closed && c.has("controller-manager") { // which takes the taint off
		return fmt.Errorf("it is still tainted as not ready")
	}
	return nil
}

// awaitSuccess calls ask again and again, until it returns no error or ctx is done.
func awaitSuccess(ctx context.Context, what string, ask func() error) error {
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last: %w", what, ctx.Err(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
