package cluster

import (
	"context"
	"fmt"
	"maps"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jacquard-operator/jacquard/devcluster/machine"
)

// checkMachine says what is in the way of real nodes, before anything is
// changed.
func (c *cluster) checkMachine(dir string) (err error) {
	if c.node != realNodes {
		return nil
	}
	if c.tools, err = machine.Check(c.containerd); err != nil {
		return err
	}
	if most := longestSocket - len(deepestSocket); len(dir) > most {
		return fmt.Errorf("the path %s is too long for the sockets in it: want at most %d bytes", dir, most)
	}
	return nil
}

// prepareMachine takes the machine, puts back what killed clusters changed,
// and makes it ready for this one.
func (c *cluster) prepareMachine() (err error) {
	if c.node != realNodes {
		return nil
	}
	if c.lock, err = machine.Take(); err != nil {
		return err
	}
	for _, dir := range []string{c.state.dir, machine.Left()} {
		if dir == "" || !machine.Changed(dir) {
			continue
		}
		fmt.Fprintf(os.Stderr, "putting back what a killed cluster in %s changed of this machine\n", dir)
		if err := machine.Restore(dir); err != nil {
			return err
		}
	}
	if c.machine, err = machine.Prepare(c.state.dir, c.nodes); err != nil {
		return err
	}
	if err := writePause(c.pathTo("config", "pause.tar")); err != nil {
		return err
	}
	return c.writeNodes()
}

// restoreMachine puts back what prepareMachine changed.
func (c *cluster) restoreMachine() error {
	if c.lock == nil {
		return nil
	}
	defer c.lock.Release()
	return machine.Restore(c.state.dir)
}

// loadPause gives every node the image that its Pods begin with, as soon as
// its containerd answers.
func (c *cluster) loadPause(ctx context.Context) error {
	if !c.has("containerd") {
		return nil
	}
	for i := range c.nodes {
		socket := c.pathTo(nodeName(i), "containerd.sock")
		err := awaitSuccess(ctx, "the containerd of "+nodeName(i), func() error {
			_, err := runCtr(ctx, socket, "images", "import", c.pathTo("config", "pause.tar"))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// labelNodes waits until the kubelets have made their Nodes, and labels them.
func (c *cluster) labelNodes(ctx context.Context, client *kubernetes.Clientset) error {
	for i := range c.nodes {
		err := awaitSuccess(ctx, "labelling Node "+nodeName(i), func() error {
			node, err := client.CoreV1().Nodes().Get(ctx, nodeName(i), metav1.GetOptions{})
			if err != nil || len(c.labels[nodeName(i)]) == 0 {
				return err
			}
			maps.Copy(node.Labels, c.labels[nodeName(i)])
			_, err = client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
