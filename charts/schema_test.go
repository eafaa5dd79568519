package main

import (
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
)

// TestLint: `helm lint --strict` finds nothing in any combination.
func TestLint(t *testing.T) {
	t.Parallel()
	version := common.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	for name, values := range combinations(t) {
		result := lint.RunAll(dir, values, "jacquard", lint.WithKubeVersion(&version))
		for _, message := range result.Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("%s: %v", name, message)
			}
		}
	}
}

// TestRefusals: what cannot be meant is refused, and it is said what.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"replicacount: 2":                                           "additional properties 'replicacount' not allowed",
		"replicaCount: two":                                         "at '/replicaCount': got string, want null or integer",
		"metrics: {serviceMonitor: {enabeld: true}}":                "at '/metrics/serviceMonitor': additional properties 'enabeld' not allowed",
		"image: {digest: latest}":                                   "at '/image/digest': 'latest' does not match pattern",
		"image: {pullPolicy: Sometimes}":                            "at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'",
		"crds: {keep: \"yes\"}":                                     "at '/crds/keep': got string, want boolean",
		"kinds: {enabled: [apps]}":                                  "at '/kinds/enabled/0': 'apps' does not match pattern",
		"kinds: {enable: []}":                                       "at '/kinds': additional properties 'enable' not allowed",
		"kinds: {apps.app.huolala.cn: {settings: {}}}":              "at '/kinds/apps.app.huolala.cn': additional properties 'settings' not allowed",
		"kinds: {images: [{image: a}]}":                             "missing property 'reference'",
		"log: {level: loud}":                                        "at '/log/level': value must be one of '', 'error', 'info', 'debug'",
		"namespaces: team-a":                                        "at '/namespaces': got string, want array",
		"namespaces: [Team_A]":                                      "at '/namespaces/0': 'Team_A' does not match pattern",
		"podDisruptionBudget: {minAvailable: 1, maxUnavailable: 1}": "at '/podDisruptionBudget'",
		"kinds: {enabled: [webs.example.com]}":                      `kinds.enabled: "webs.example.com" does not ship with this chart; these do: apps.app.huolala.cn, foos.`,
		"kinds: {custom: {webs.example.com: \"kind: Pod\"}}":        "kinds.custom.webs.example.com: Pod without name is none of what `jacquard pack webs.example.com` prints",
		"kinds: {custom: {webs.example.com: \"a: [\"}}":             "kinds.custom.webs.example.com: is no YAML",
		"kinds: {enabled: [apps.app.huolala.cn], custom: {apps.app.huolala.cn: \"kind: ConfigMap\"}}": "kinds.custom: apps.app.huolala.cn is in kinds.enabled too",
		"priorityClassName: \"x\\n      hostNetwork: true\"":                                          "at '/priorityClassName'",
		"metrics: {certSecret: \"x\\n  y: z\"}":                                                       "at '/metrics/certSecret'",
		"nameOverride: \"true\"":                                                                      "at '/nameOverride'",
		"{replicaCount: 2, podDisruptionBudget: {minAvailable: 2}}":                                   "podDisruptionBudget: no Pod could be evicted",
		"{replicaCount: 2, podDisruptionBudget: {maxUnavailable: 0}}":                                 "podDisruptionBudget: no Pod could be evicted",
		"{replicaCount: 2, podDisruptionBudget: {minAvailable: 100%}}":                                "podDisruptionBudget: no Pod could be evicted",
		"crd: {enabled: false}":                                                                       "crd is called crds now",
		"flowControl: {shares: 20}":                                                                   "flowControl.shares is called flowControl.nominalConcurrencyShares now",
		"leaderElection: {enabled: false}":                                                            "leaderElection.enabled has no effect",
		"rbac: {namespaced: true}":                                                                    "rbac.namespaced: say in which namespaces",
		"metrics: {service: {enabled: false}, serviceMonitor: {enabled: true}}":                       "metrics.serviceMonitor.enabled: it needs metrics.service.enabled",
	} {
		_, err := render(release{name: "jacquard", namespace: "jacquard", values: values(t, text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}
