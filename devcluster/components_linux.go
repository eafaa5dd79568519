package main

import (
	"context"
	"os"

	"k8s.io/component-base/cli"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// A real node's components run on Linux alone.
func init() {
	components["kubelet"] = func() { os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background()))) }
	components["kube-proxy"] = func() { os.Exit(cli.Run(proxy.NewProxyCommand())) }
}
