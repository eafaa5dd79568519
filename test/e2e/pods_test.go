package e2e_test

import "fmt"

// A pod is what tests look at of a Pod.
type pod struct {
	Metadata struct {
		Name              string
		UID               string
		DeletionTimestamp string
	}
	Status struct {
		PodIP                      string
		Conditions                 []condition
		ContainerStatuses          []containerStatus
		EphemeralContainerStatuses []containerStatus
	}
}

type condition struct{ Type, Status, Reason, Message string }

type containerStatus struct {
	Name         string
	Image        string
	RestartCount int
	State        struct {
		Running    *struct{}
		Terminated *struct {
			ExitCode int
			Message  string
		}
		Waiting *struct{ Reason, Message string }
	}
}

// ready says why a Pod is not ready; nil if it is.
func (p pod) ready() error {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" && p.Metadata.DeletionTimestamp == "" {
			return nil
		}
	}
	return fmt.Errorf("Pod %s is not ready: %+v", p.Metadata.Name, p.Status.ContainerStatuses)
}

// pods are the Pods of a namespace with these labels.
func (n *realNode) pods(namespace, selector string) ([]pod, error) {
	var list struct{ Items []pod }
	err := n.get(&list, "pods", "--namespace", namespace, "--selector", selector)
	return list.Items, err
}

// run says what is wrong with the Pods of a namespace with these labels, of
// which so many should be ready.
func (n *realNode) run(namespace, selector string, want int) error {
	found, err := n.pods(namespace, selector)
	if err != nil {
		return err
	}
	count := 0
	for _, p := range found {
		if err = p.ready(); err == nil {
			count++
		}
	}
	if count != want || len(found) != want {
		return fmt.Errorf("%d of %d Pods with %s are ready, %d should be: %w", count, len(found), selector, want, err)
	}
	return nil
}
