package faults

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// exclusive are documents with a field that another excludes, by the part of the path of
// the field that lint names.
var exclusive = map[string]string{
	"updateStrategy.rollingUpdate":     "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {serviceName: a, selector: {matchLabels: {a: b}}, updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: i}]}}}}",
	"strategy.rollingUpdate":           "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: i}]}}}}",
	"minAvailable":                     "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1, maxUnavailable: 1}}",
	"service":                          "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {defaultBackend: {service: {name: a, port: {number: 80}}, resource: {apiGroup: a, kind: B, name: c}}}}",
	"port.number":                      "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {defaultBackend: {service: {name: a, port: {number: 80, name: a}}}}}",
	"podSelector":                      "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{ipBlock: {cidr: 192.0.2.0/24}, podSelector: {}}]}]}}",
	"pods":                             "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 1}}, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 1}}}]}}",
	"loadBalancerClass":                "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}], loadBalancerClass: example.com/a}}",
	"allocateLoadBalancerNodePorts":    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}], allocateLoadBalancerNodePorts: true}}",
	"clusterIP":                        "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: ExternalName, externalName: a.example.com, clusterIP: None}}",
	"onPodConditions":                  "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [1]}, onPodConditions: [{type: A, status: 'True'}]}]}, template: {spec: {restartPolicy: Never, containers: [{name: a, image: i}]}}}}",
	"valueFrom":                        podOf("containers: [{name: a, image: i, env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]"),
	"valueFrom.secretKeyRef":           podOf("containers: [{name: a, image: i, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}, secretKeyRef: {name: a, key: b}}}]}]"),
	"secretRef":                        podOf("containers: [{name: a, image: i, envFrom: [{configMapRef: {name: a}, secretRef: {name: a}}]}]"),
	"livenessProbe.tcpSocket":          podOf("containers: [{name: a, image: i, livenessProbe: {httpGet: {port: 80}, tcpSocket: {port: 80}}}]"),
	"preStop.sleep":                    podOf("containers: [{name: a, image: i, lifecycle: {preStop: {exec: {command: [a]}, sleep: {seconds: 1}}}}]"),
	"subPathExpr":                      podOf("containers: [{name: a, image: i, volumeMounts: [{name: v, mountPath: /a, subPath: a, subPathExpr: b}]}], volumes: [{name: v, emptyDir: {}}]"),
	"emptyDir":                         podOf("containers: [{name: a, image: i}], volumes: [{name: v, emptyDir: {}, configMap: {name: a}}]"),
	"sources[].secret":                 podOf("containers: [{name: a, image: i}], volumes: [{name: v, projected: {sources: [{configMap: {name: a}, secret: {name: a}}]}}]"),
	"seccompProfile.localhostProfile":  podOf("securityContext: {seccompProfile: {type: RuntimeDefault, localhostProfile: a}}, containers: [{name: a, image: i}]"),
	"appArmorProfile.localhostProfile": podOf("securityContext: {appArmorProfile: {type: RuntimeDefault, localhostProfile: a}}, containers: [{name: a, image: i}]"),
	"resourceClaimTemplateName":        podOf("resourceClaims: [{name: a, resourceClaimName: a, resourceClaimTemplateName: b}], containers: [{name: a, image: i}]"),
	"tolerations[].value":              podOf("tolerations: [{key: a, operator: Exists, value: b}], containers: [{name: a, image: i}]"),
	"tolerationSeconds":                podOf("tolerations: [{key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 1}], containers: [{name: a, image: i}]"),
	"minDomains":                       podOf("topologySpreadConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, minDomains: 1, labelSelector: {}}], containers: [{name: a, image: i}]"),
	"nodeSelectorTerms[].matchExpressions[].values": podOf("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists, values: [b]}]}]}}}, containers: [{name: a, image: i}]"),
	"selector.matchExpressions[].values":            "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1, selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}}",
	"nfs":                                           "{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /a}, nfs: {server: a, path: /a}}}",
	"queuing":                                       "{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, metadata: {name: a}, spec: {type: Limited, limited: {limitResponse: {type: Reject, queuing: {queues: 1, handSize: 1, queueLengthLimit: 1}}}}}",
	"exempt":                                        "{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, metadata: {name: a}, spec: {type: Limited, exempt: {}, limited: {limitResponse: {type: Reject}}}}",
	"subjects[].user":                               "{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema, metadata: {name: a}, spec: {priorityLevelConfiguration: {name: global-default}, rules: [{subjects: [{kind: Group, group: {name: a}, user: {name: b}}], nonResourceRules: [{verbs: ['*'], nonResourceURLs: ['*']}]}]}}",
	"clientConfig.service":                          "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: a.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://a.example.com', service: {namespace: a, name: b}}}]}",
	"conversion.webhook":                            strings.Replace(strings.ReplaceAll(kit.WebCRD, "GROUP", "excluded.example.com"), "  scope:", "  conversion: {strategy: None, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a.example.com'}}}\n  scope:", 1),
	"firstAvailable":                                "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}, spec: {devices: {requests: [{name: a, exactly: {deviceClassName: a}, firstAvailable: [{name: b, deviceClassName: a}]}]}}}",
}

func podOf(spec string) string {
	return "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" + spec + "}}"
}

// TestExclusiveFields: what lint says of fields that exclude each other, the API server says,
// too, and takes the document without the excluded field.
func TestExclusiveFields(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	for field, text := range exclusive {
		if text == "" {
			continue
		}
		o := kit.Parse(t, text)[0]
		if o.GetKind() != "PersistentVolume" {
			o.SetNamespace(namespace)
		}
		try := func(o *unstructured.Unstructured) error {
			return cluster.Client.Create(context.Background(), o.DeepCopy(), client.DryRunAll)
		}
		if err := try(o); err == nil {
			t.Errorf("%s: the API server takes it", field)
		}
		found := false
		for _, x := range schema.BuiltInType(o.GroupVersionKind()).Excluded(o.Object) {
			if named := spelled(x.Path); strings.HasSuffix(named, field) && !x.IsKept && has(o.Object, x.Path) {
				found = true
				remove(o.Object, x.Path)
			}
		}
		if !found {
			t.Errorf("%s: lint does not name it", field)
			continue
		}
		if err := try(o); err != nil {
			t.Errorf("%s: without it, the API server says %v", field, err)
		}
	}
}

func spelled(path []any) string {
	text := ""
	for _, step := range path {
		if name, is := step.(string); is {
			text += "." + name
		} else {
			text += "[]"
		}
	}
	return text
}

func has(v any, path []any) bool {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			v = v.([]any)[s]
		}
	}
	return v != nil
}

func remove(v any, path []any) {
	for _, step := range path[:len(path)-1] {
		switch s := step.(type) {
		case string:
			v = v.(map[string]any)[s]
		case int:
			v = v.([]any)[s]
		}
	}
	delete(v.(map[string]any), path[len(path)-1].(string))
}
