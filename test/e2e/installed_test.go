package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// namespace is the operator's, account the one it runs as.
const (
	namespace = "jacquard"
	account   = "system:serviceaccount:jacquard:jacquard"
)

// everyKind are the shipped kinds, the one that is off by default among them.
var everyKind = []string{
	"apps.app.huolala.cn", "foos.samplecontroller.k8s.io", "genericdaemons.mydomain.com",
	"milvuses.zilliz.com", "podroutes.quay.io", "prometheusjmxexporters.banzaicloud.com",
}

// restricted is the operator's namespace, which admits only Pods that need
// nothing.
const restricted = `
apiVersion: v1
kind: Namespace
metadata:
  name: ` + namespace + `
  labels:
    pod-security.kubernetes.io/enforce: restricted
    pod-security.kubernetes.io/enforce-version: latest
`

// A schedule is when a part is tested.
type schedule int

const (
	always  schedule = iota
	nightly          // by make nightly alone
)

// TestInstalled goes through the life of an installed operator. What comes
// later relies on what was done before only through the cluster, so a part can
// be run alone with -run; all but Rights, which is about the whole run.
func TestInstalled(t *testing.T) {
	n := node(t)
	n.apply(t, admin, restricted)
	n.install(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, *realNode)
		when schedule
	}{
		{"Examples", examples, always},
		{"Exporter", exporter, always},
		{"Changed", changed, always},
		{"Handover", handover, nightly},
		{"Upgrade", upgrade, always},
		{"Uninstall", uninstall, always},
		{"Kinds", kinds, nightly},
		{"Reasons", reasons, nightly},
		{"Moved", moved, nightly},
		{"Metrics", metrics, always},
		{"Rights", rights, nightly},
		{"Ejected", ejected, nightly},
	} {
		t.Run(part.name, func(t *testing.T) {
			if part.when == nightly && os.Getenv("NIGHTLY") == "" {
				t.Skip("make nightly-e2e-all runs it")
			}
			part.test(t, n)
		})
	}
}

// install installs the chart with all shipped kinds, or upgrades it to what it
// is now.
func (n *realNode) install(t *testing.T, more ...string) {
	t.Helper()
	n.installFrom(t, "helm", thisChart, more...)
}

// thisChart is the chart's directory.
var thisChart = filepath.Join(repository, "charts", "jacquard")

// installFrom does so with the chart in a directory, by a program of Helm.
func (n *realNode) installFrom(t *testing.T, helm, chart string, more ...string) {
	t.Helper()
	repo, tag := parts(n.image)
	args := []string{
		"upgrade", "--install", "jacquard", chart, "--namespace", namespace,
		"--wait", "--timeout", patience.String(), "--set", "image.repository=" + repo, "--set-string", "image.tag=" + tag,
		"--set", "kinds.enabled={" + strings.Join(everyKind, ",") + "}",
	}
	n.helm(t, helm, append(args, more...)...)
}

// operators are the operator's Pods, by their names.
func (n *realNode) operators(t *testing.T) map[string]pod {
	t.Helper()
	found, err := n.pods(namespace, "app.kubernetes.io/name=jacquard")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]pod{}
	for _, p := range found {
		byName[p.Metadata.Name] = p
	}
	return byName
}
