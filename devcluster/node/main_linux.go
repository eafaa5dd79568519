// Command node, .bin/kube-node, holds kubelet and kube-proxy, which real nodes run and simulated
// ones do not: a program of its own, so that a cluster of simulated nodes need
// not compile them. Called through a link that bears a component's name it is
// that component; else its first argument says which.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	name := filepath.Base(os.Args[0])
	if name == "kube-node" && len(os.Args) > 1 {
		name, os.Args = os.Args[1], os.Args[1:] // the upstream entry points read os.Args by themselves
	}
	switch name {
	case "kubelet":
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	case "kube-proxy":
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	default:
		fmt.Fprintln(os.Stderr, "usage: kube-node kubelet|kube-proxy [ARGUMENT...]")
		os.Exit(2)
	}
}
