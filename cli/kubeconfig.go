package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// checkKubeconfig returns what is wrong with the kubeconfig that the command would use, with
// the files it was looked for in, or nil. A command without any kubeconfig may still run in
// a Pod.
func (a *access) checkKubeconfig() error {
	rules := a.loadingRules()
	config, err := rules.Load()
	switch {
	case err != nil && rules.ExplicitPath != "" && os.IsNotExist(err):
		config = clientcmdapi.NewConfig()
	case err != nil: // names the file
		return err
	case clientcmdapi.IsConfigEmpty(config) && a.context == "":
		return nil
	}
	name := a.context
	if name == "" {
		name = config.CurrentContext
	}
	context := config.Contexts[name]
	var problem string
	switch {
	case len(config.Contexts) == 0:
		problem = "no kubeconfig has a context"
	case name == "":
		problem = "no context is chosen: name one by --context, or set current-context by kubectl config use-context"
	case context == nil:
		problem = fmt.Sprintf("there is no context %q", name)
	case context.Cluster == "":
		problem = fmt.Sprintf("the context %q names no cluster", name)
	case config.Clusters[context.Cluster] == nil:
		problem = fmt.Sprintf("the context %q names the cluster %q, which no kubeconfig has", name, context.Cluster)
	case context.AuthInfo != "" && config.AuthInfos[context.AuthInfo] == nil:
		problem = fmt.Sprintf("the context %q names the user %q, which no kubeconfig has", name, context.AuthInfo)
	default:
		return nil
	}
	return fmt.Errorf("%s; %s", problem, a.kubeconfigFiles())
}

// errNoKubeconfig is that of a command which has neither a kubeconfig nor a Pod's service account.
func (a *access) errNoKubeconfig() error {
	problem := "there is no kubeconfig"
	if files, _ := a.listKubeconfigs(); slices.ContainsFunc(files, func(file string) bool { _, err := os.Stat(file); return err == nil }) {
		problem = "no kubeconfig has a context"
	}
	return errors.New(problem + ", and there is no Pod's service account: name a file by --kubeconfig or KUBECONFIG; " + a.kubeconfigFiles())
}

// listKubeconfigs returns the files that are read, in their order, and what names them in
// place of ~/.kube/config, if anything does.
func (a *access) listKubeconfigs() (files []string, source string) {
	rules := a.loadingRules()
	switch {
	case rules.ExplicitPath != "":
		return []string{rules.ExplicitPath}, "--kubeconfig"
	case os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "":
		source = clientcmd.RecommendedConfigPathEnvVar
	}
	return rules.GetLoadingPrecedence(), source
}

// kubeconfigFiles describes the files that are read, in their order, and those that are not,
// KUBECONFIG and ~/.kube/config, where they are there.
func (a *access) kubeconfigFiles() string {
	files, source := a.listKubeconfigs()
	var all []string
	for _, file := range files {
		all = append(all, describeKubeconfig(file))
	}
	env := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	if env != "" && a.kubeconfig != "" && !slices.Equal(filepath.SplitList(env), files) {
		all = append(all, fmt.Sprintf("%s is not read, because of --kubeconfig", clientcmd.RecommendedConfigPathEnvVar))
	}
	home := clientcmd.RecommendedHomeFile
	if _, err := os.Stat(home); err == nil && !slices.Contains(files, home) {
		all = append(all, fmt.Sprintf("%s is not read, because of %s", home, source))
	}
	return strings.Join(all, "; ")
}

// describeKubeconfig says which contexts a file has.
func describeKubeconfig(file string) string {
	config, err := clientcmd.LoadFromFile(file)
	switch {
	case os.IsNotExist(err):
		return file + " is missing"
	case err != nil:
		return fmt.Sprintf("%s cannot be read: %v", file, err)
	case len(config.Contexts) == 0:
		return file + " has no context"
	}
	var names []string
	for name := range config.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	text := fmt.Sprintf("%s has the contexts %s", file, strings.Join(names, ", "))
	if len(names) == 1 {
		text = fmt.Sprintf("%s has the context %s", file, names[0])
	}
	if config.CurrentContext == "" {
		return text + ", and no current-context"
	}
	return fmt.Sprintf("%s (current: %s)", text, config.CurrentContext)
}
