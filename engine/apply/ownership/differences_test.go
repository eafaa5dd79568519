package ownership_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

func TestDifferences(t *testing.T) {
	tests := map[string]struct{ sent, answer, want string }{
		"the same":         {`{a: 1, b: [x], c: {d: true}}`, `{a: 1, b: [x], c: {d: true}}`, ""},
		"whole numbers":    {`{a: 1, b: 2.0}`, `{a: 1.0, b: 2}`, ""},
		"more in answer":   {`{a: {b: 1}}`, `{a: {b: 1, c: 2}, d: 3}`, ""},
		"another value":    {`{spec: {a: 1, b: x}}`, `{spec: {a: 2, b: x}}`, "spec.a"},
		"another type":     {`{spec: {a: {b: 1}, c: [1]}}`, `{spec: {a: x, c: {}}}`, "spec.a spec.c"},
		"gone":             {`{spec: {a: 1, b: {c: 1}}}`, `{spec: {}}`, "spec.a spec.b"},
		"null and absent":  {`{spec: {a: null}}`, `{spec: {}}`, ""},
		"empty and absent": {`{metadata: {labels: {}}, subjects: []}`, `{metadata: {}}`, "~metadata.labels ~subjects"},
		"empty and filled": {`{metadata: {labels: {}}, args: []}`, `{metadata: {labels: {a: b}}, args: [x]}`, "args"},
		"quantities": {`{spec: {a: 1000m, b: 1, c: 1024Mi, d: 1Gi}}`, `{spec: {a: "1", b: "1", c: 1Gi, d: 1G}}`,
			"~spec.a ~spec.b ~spec.c spec.d"},
		"text that looks like quantities": {
			`{metadata: {labels: {a: 1000m}}, data: {a: 1000m}}`, `{metadata: {labels: {a: "1"}}, data: {a: "1"}}`,
			"data.a metadata.labels.a",
		},
		"base64 of a Secret": {
			`{apiVersion: v1, kind: Secret, data: {a: "YQ\n==", b: YQ==}}`, `{apiVersion: v1, kind: Secret, data: {a: YQ==, b: Yg==}}`,
			"~data.a data.b",
		},
		"identity": {
			`{apiVersion: v1, kind: A, metadata: {name: a, resourceVersion: "1", uid: x}}`,
			`{apiVersion: v1, kind: A, metadata: {name: a, namespace: n, resourceVersion: "7"}}`, "",
		},
		"others' finalizers": {`{metadata: {finalizers: [a]}}`, `{metadata: {finalizers: [b, a]}}`, ""},
		"our finalizer gone": {`{metadata: {finalizers: [a]}}`, `{metadata: {finalizers: [b]}}`, "metadata.finalizers"},
		"arguments added":    {`{args: [a]}`, `{args: [a, b]}`, "args"},
		"an argument":        {`{args: [a, b]}`, `{args: [a, c]}`, "args[1]"},
		"items by name, another injected first": {
			`{containers: [{name: a, image: x}, {name: b, image: y}]}`,
			`{containers: [{name: proxy}, {name: b, image: z}, {name: a, image: x}]}`, "containers[name=b].image",
		},
		"an item removed": {`{containers: [{name: a}, {name: b}]}`, `{containers: [{name: a}]}`, "containers[name=b]"},
		"ports of two protocols": {
			`{ports: [{port: 80, targetPort: a}, {port: 80, protocol: UDP, targetPort: b}]}`,
			`{ports: [{port: 80, protocol: UDP, targetPort: c}, {port: 80, protocol: TCP, targetPort: a}]}`,
			"ports[port=80,protocol=UDP].targetPort",
		},
		"mounts of one volume": {
			`{mounts: [{name: v, mountPath: /a}, {name: v, mountPath: /b, readOnly: true}]}`,
			`{mounts: [{name: v, mountPath: /b, readOnly: false}, {name: v, mountPath: /a}]}`, "mounts[mountPath=/b].readOnly",
		},
		"items without keys": {
			`{rules: [{verbs: [a]}, {verbs: [b]}]}`, `{rules: [{verbs: [a]}, {verbs: [c]}]}`, "rules[1].verbs[0]",
		},
		"zero values that Go types omit": {
			`{apiVersion: apps/v1, kind: Deployment, spec: {minReadySeconds: 0, template: {spec: {hostNetwork: false, volumes: [{name: v, emptyDir: {medium: ""}}],
				containers: [{name: a, tty: false, workingDir: "", env: [{name: A, value: ""}], volumeMounts: [{name: v, mountPath: /v, subPath: ""}]}]}}}}`,
			`{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {volumes: [{name: v, emptyDir: {}}],
				containers: [{name: a, env: [{name: A}], volumeMounts: [{name: v, mountPath: /v}]}]}}}}`,
			`~spec.minReadySeconds ~spec.template.spec.containers[name=a].env[name=A].value ~spec.template.spec.containers[name=a].tty
				~spec.template.spec.containers[name=a].volumeMounts[name=v].subPath ~spec.template.spec.containers[name=a].workingDir
				~spec.template.spec.hostNetwork ~spec.template.spec.volumes[name=v].emptyDir.medium`,
		},
		"zero values that Go types keep": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {labels: {a: ""}}, spec: {replicas: 0, template: {spec: {automountServiceAccountToken: false,
				nodeSelector: {node-role: ""}, containers: [{name: a, securityContext: {privileged: false, runAsUser: 0}}]}}}}`,
			`{apiVersion: apps/v1, kind: Deployment, metadata: {labels: {}}, spec: {replicas: 1, template: {spec: {
				nodeSelector: {}, containers: [{name: a, securityContext: {runAsUser: 7}}]}}}}`,
			`metadata.labels.a spec.replicas spec.template.spec.automountServiceAccountToken
				spec.template.spec.containers[name=a].securityContext.privileged spec.template.spec.containers[name=a].securityContext.runAsUser
				spec.template.spec.nodeSelector.node-role`,
		},
		"zero values of other kinds": {
			`{apiVersion: a.io/v1, kind: A, metadata: {annotations: {x: ""}}, spec: {a: "", b: 0, c: false, d: {e: 0.0}, f: [{g: ""}], h: "", i: 0, j: {}, k: [], l: null}}`,
			`{apiVersion: a.io/v1, kind: A, metadata: {annotations: {}}, spec: {a: "", b: null, d: {}, f: [{}], h: x, i: 1, l: 1}}`,
			`metadata.annotations.x ~spec.b ~spec.c ~spec.d.e ~spec.f[0].g spec.h spec.i ~spec.j ~spec.k spec.l`,
		},
		"defaults instead of zero values": {
			`{apiVersion: v1, kind: Pod, spec: {hostPID: false, restartPolicy: "", containers: [{name: a, imagePullPolicy: "", livenessProbe: {timeoutSeconds: 0}}]}}`,
			`{apiVersion: v1, kind: Pod, spec: {hostPID: true, restartPolicy: Always, containers: [{name: a, imagePullPolicy: Always, livenessProbe: {timeoutSeconds: 1}}]}}`,
			`?spec.containers[name=a].imagePullPolicy ?spec.containers[name=a].livenessProbe.timeoutSeconds spec.hostPID ?spec.restartPolicy`,
		},
		"changed to zero values": {
			`{apiVersion: v1, kind: Service, spec: {replicas: 3, sessionAffinity: ClientIP, publishNotReadyAddresses: true, ports: [{port: 80}], selector: {a: b}}}`,
			`{apiVersion: v1, kind: Service, spec: {replicas: 0, sessionAffinity: "", ports: [], selector: {}}}`,
			"spec.ports[port=80] spec.publishNotReadyAddresses spec.replicas spec.selector.a spec.sessionAffinity",
		},
		"keys with dots": {`{metadata: {labels: {a.b/c: x}}}`, `{metadata: {labels: {a.b/c: y}}}`, `metadata.labels["a.b/c"]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range ownership.Differences(fields(t, test.sent), fields(t, test.answer)) {
				switch {
				case d.Normalised:
					d.Path = "~" + d.Path
				case d.Unset:
					d.Path = "?" + d.Path
				}
				got = append(got, d.Path)
			}
			if diff := cmp.Diff(strings.Fields(test.want), got,
				cmp.Transformer("nil", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
				t.Errorf("Differences (-want +got):\n%s", diff)
			}
		})
	}
}

// fields reads YAML of no kind.
func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	m := read(t, "{apiVersion: v1, kind: Any, wrapped: "+text+"}")
	return m["wrapped"].(map[string]any)
}
