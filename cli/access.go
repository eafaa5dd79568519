package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// An access is how a command reaches the cluster.
type access struct{ kubeconfig, context string }

// addFlags adds the flags that choose the cluster.
func (a *access) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.kubeconfig, "kubeconfig", "", "kubeconfig file")
	cmd.Flags().StringVar(&a.context, "context", "", "context in the kubeconfig")
}

// operatorNamespaceFlag adds the flag that names the operator's namespace. Where a command
// has --namespace too, that is the resources'.
func operatorNamespaceFlag(cmd *cobra.Command, namespace *string, value, usage string) {
	cmd.Flags().StringVar(namespace, "operator-namespace", value, usage)
}

// refuseNamespace refuses --namespace and -n of a command that looks at no resources of one
// namespace, since they could be meant as the operator's.
func refuseNamespace(cmd *cobra.Command) {
	cmd.Flags().VarP(refusedNamespace{}, "namespace", "n", "")
	_ = cmd.Flags().MarkHidden("namespace") // it fails only for a flag that is not there
}

// A refusedNamespace is the value of a flag that names its successor.
type refusedNamespace struct{}

// String returns "", as there is no default.
func (refusedNamespace) String() string { return "" }

// Type returns that of a namespace.
func (refusedNamespace) Type() string { return "string" }

// Set refuses any value.
func (refusedNamespace) Set(string) error {
	return errors.New("this names the namespace of resources; name the operator's by --operator-namespace")
}

// loadConfig returns the access to the cluster of --kubeconfig, of KUBECONFIG, of the Pod's service
// account, or of ~/.kube/config.
func (a *access) loadConfig() (*rest.Config, error) {
	if err := a.checkKubeconfig(); err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	cfg, err := a.newLoader().ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		err = a.errNoKubeconfig()
	}
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	cfg.UserAgent = "jacquard/" + Version()
	return cfg, nil
}

// newLoader returns what loads the kubeconfig, in the context that the flags choose.
func (a *access) newLoader() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(a.loadingRules(), &clientcmd.ConfigOverrides{CurrentContext: a.context})
}

func (a *access) loadingRules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.kubeconfig
	return rules
}

// podNamespace is the namespace of the Pod that this runs in, or "".
func podNamespace() string {
	text, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil { // it does not run in a Pod
		return ""
	}
	return strings.TrimSpace(string(text))
}
