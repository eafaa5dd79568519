// Command kubectl is kubectl as its project ships it. It is a program of its
// own, so that a cluster can start before it is compiled.
package main

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // what kubectl's own main imports
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

// main follows cmd/kubectl/kubectl.go of k8s.io/kubernetes.
func main() {
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
