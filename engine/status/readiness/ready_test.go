package readiness_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/status/health"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	js, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(js); err != nil {
		t.Fatal(err)
	}
	return u.Object
}

const unobserved = "its controller has not observed the latest change yet"

func isReady() readiness.Verdict           { return readiness.Verdict{State: readiness.Ready} }
func not(message string) readiness.Verdict { return readiness.Verdict{Message: message} }
func failed(message string) readiness.Verdict {
	return readiness.Verdict{State: readiness.Failed, Message: message}
}

func TestOf(t *testing.T) {
	for kind, tests := range map[string]map[string]struct {
		rest string
		want readiness.Verdict
	}{
		"apps/v1 Deployment": {
			"just created":   {"", not(unobserved)},
			"of no replicas": {"spec: {replicas: 0}", not(unobserved)},
			"changed": {"status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}",
				not(unobserved)},
			"observed":                {"status: {observedGeneration: 2}", not("0 of 1 replicas are updated")},
			"paused":                  {"spec: {paused: true}\nstatus: {observedGeneration: 2, replicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Progressing, status: Unknown, reason: DeploymentPaused}]}", not("0 of 1 replicas are updated: it is paused")},
			"paused, ready":           {"spec: {paused: true}\nstatus: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: 'True'}, {type: Progressing, status: Unknown, reason: DeploymentPaused}]}", isReady()},
			"of no replicas, refused": {"spec: {replicas: 0}\nstatus: {observedGeneration: 2, conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'False', reason: ReplicaSetCreateError, message: quota}]}", not("its ReplicaSet cannot be created: quota")},
			"partly updated":          {"spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3}", not("1 of 3 replicas are updated")},
			"partly ready":            {"spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 2, availableReplicas: 2}", not("2 of 3 replicas are ready")},
			"minReadySeconds":         {"spec: {replicas: 3}\nstatus: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 1}", not("1 of 3 replicas are available")},
			"old ones left":           {"spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2}", not("old replicas are still there: 1")},
			"not available":           {"spec: {replicas: 0}\nstatus: {observedGeneration: 2}", not("it is not available yet")},
			"available":               {"spec: {replicas: 1}\nstatus: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: 'True'}]}", isReady()},
			"available, of no":        {"spec: {replicas: 0}\nstatus: {observedGeneration: 2, conditions: [{type: Available, status: 'True'}]}", isReady()},
			"out of time":             {"status: {observedGeneration: 2, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}", failed("the rollout exceeded its progress deadline: 0 of 1 replicas are updated")},
			"out of quota":            {"status: {observedGeneration: 2, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: 'pods web-abcde is forbidden'}]}", not("0 of 1 replicas are updated: replicas cannot be created (FailedCreate): pods web-abcde is forbidden")},
			"not admitted, and out of time": {`status: {observedGeneration: 2, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}, {type: ReplicaFailure, status: 'True', reason: FailedCreate, message: 'pods "web-6d4cf56db6-x7k2p" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true'}]}`,
				failed(`the rollout exceeded its progress deadline: 0 of 1 replicas are updated: replicas cannot be created (FailedCreate): violates PodSecurity "restricted:latest": runAsNonRoot != true`)},
		},
		"apps/v1 StatefulSet": {
			"just created": {"spec: {replicas: 0}", not(unobserved)},
			"partly ready": {"spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 1}",
				not("1 of 2 replicas are ready")},
			"ready":            {"spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, currentRevision: a, updateRevision: a}", isReady()},
			"another revision": {"spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, currentRevision: a, updateRevision: b}", not("the rollout is not complete")},
			"OnDelete":         {"spec: {replicas: 2, updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 1}", not("1 of 2 replicas are ready")},
			"OnDelete, ready":  {"spec: {replicas: 2, updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2}", isReady()},
			"partition":        {"spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 1}}}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}", not("1 of 2 replicas are updated")},
			"not available": {"spec: {replicas: 2, minReadySeconds: 9}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 1, currentRevision: a, updateRevision: a}",
				not("1 of 2 replicas are available")},
			"available":                {"spec: {replicas: 2, minReadySeconds: 9}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, currentRevision: a, updateRevision: a}", isReady()},
			"OnDelete, not available":  {"spec: {replicas: 2, updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2, availableReplicas: 0}", not("0 of 2 replicas are available")},
			"partition, not available": {"spec: {replicas: 2, updateStrategy: {rollingUpdate: {partition: 1}}}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 1, availableReplicas: 1}", not("1 of 2 replicas are available")},
			"partition done":           {"spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 1}}}\nstatus: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 2, currentRevision: a, updateRevision: b}", isReady()},
		},
		"apps/v1 ReplicaSet": {
			"just created": {"spec: {replicas: 0}\nstatus: {replicas: 0}", not(unobserved)},
			"partly ready": {"spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 1}",
				not("1 of 2 replicas are ready")},
			"ready": {"spec: {replicas: 2}\nstatus: {observedGeneration: 2, replicas: 2, readyReplicas: 2, availableReplicas: 2}", isReady()},
		},
		"apps/v1 DaemonSet": {
			"just created":   {"status: {currentNumberScheduled: 0, desiredNumberScheduled: 0, numberReady: 0}", not(unobserved)},
			"without status": {"status: {observedGeneration: 2}", not("its controller has not reported a status yet")},
			"partly updated": {"status: {observedGeneration: 2, currentNumberScheduled: 3, desiredNumberScheduled: 3, updatedNumberScheduled: 1, numberReady: 3}", not("1 of 3 nodes are updated")},
			"partly ready":   {"status: {observedGeneration: 2, currentNumberScheduled: 3, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 2}", not("2 of 3 nodes are ready")},
			"on no node":     {"status: {observedGeneration: 2, desiredNumberScheduled: 0}", isReady()},
			"OnDelete":       {"spec: {updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 2, currentNumberScheduled: 1, desiredNumberScheduled: 1, numberReady: 1, numberAvailable: 1}", isReady()},
		},
		"batch/v1 Job": {
			"just created": {"", not("not complete yet")},
			"running": {"spec: {completions: 3}\nstatus: {active: 1, succeeded: 2, startTime: '2026-01-01T00:00:00Z'}",
				not("2 of 3 completions")},
			"suspended": {"status: {conditions: [{type: Suspended, status: 'True'}]}", not("suspended")},
			"resumed":   {"spec: {completions: 1}\nstatus: {conditions: [{type: Suspended, status: 'False'}]}", not("0 of 1 completions")},
			"complete":  {"status: {conditions: [{type: Complete, status: 'True'}]}", isReady()},
			"failed": {"status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded}]}",
				failed("failed (BackoffLimitExceeded)")},
		},
		"v1 Pod": {
			"just created": {"", not("its controller has not reported a status yet")},
			"pending":      {"status: {phase: Pending}", not("phase Pending, not ready")},
			"unschedulable": {"status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}",
				not("not scheduled: Unschedulable")},
			"crash looping":  {"status: {phase: Running, containerStatuses: [{name: web, state: {waiting: {reason: CrashLoopBackOff}}}, {name: a, state: {running: {}}}]}", not("container web: CrashLoopBackOff")},
			"without image":  {"status: {phase: Pending, initContainerStatuses: [{name: i, state: {waiting: {reason: ImagePullBackOff}}}], containerStatuses: [{name: web, state: {waiting: {reason: PodInitializing}}}]}", not("container i: ImagePullBackOff")},
			"explained":      {"status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 Insufficient cpu.'}]}", not("not scheduled: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.")},
			"no such Secret": {"status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: CreateContainerConfigError, message: 'secret \"a\" not found'}}}]}", not(`container web: CreateContainerConfigError: secret "a" not found`)},
			"no image":       {"status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: InvalidImageName, message: 'couldn''t parse image name \"A\"'}}}]}", failed(`container web: InvalidImageName: couldn't parse image name "A"`)},
			"running, ready": {"status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}", isReady()},
			"succeeded":      {"status: {phase: Succeeded, conditions: [{type: Ready, status: 'False'}]}", isReady()},
			"failed":         {"status: {phase: Failed, reason: Evicted, conditions: [{type: Ready, status: 'True'}]}", failed("failed: Evicted")},
		},
		"v1 Service": {
			"of ClusterIP": {"spec: {type: ClusterIP}\nstatus: {loadBalancer: {}}", isReady()},
			"without address": {"spec: {type: LoadBalancer, clusterIP: 10.0.0.1}\nstatus: {loadBalancer: {}}",
				not("the load balancer has no address yet")},
			"with empty entry": {"spec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{ports: []}]}}",
				not("the load balancer has no address yet")},
			"with address":   {"spec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}", isReady()},
			"with host name": {"spec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{hostname: a.example.com}]}}", isReady()},
		},
		"v1 PersistentVolumeClaim": {
			"just created": {"", not("its controller has not reported a status yet")},
			"pending":      {"status: {phase: Pending}", readiness.Verdict{State: readiness.Unbound, Message: "phase Pending"}},
			"modified in vain": {"status: {phase: Pending, conditions: [{type: ModifyVolumeError, status: 'True', message: no such class}]}",
				readiness.Verdict{State: readiness.Unbound, Message: "phase Pending: ModifyVolumeError: no such class"}},
			"bound": {"status: {phase: Bound}", isReady()},
			"lost":  {"status: {phase: Lost}", failed("its volume is lost")},
		},
		"policy/v1 PodDisruptionBudget": {
			"just created": {"status: {currentHealthy: 0}", not(unobserved)},
			"observed":     {"status: {observedGeneration: 2, currentHealthy: 0}", isReady()},
		},
		"autoscaling/v2 HorizontalPodAutoscaler": {
			"just created": {"status: {desiredReplicas: 0}", not("its controller has not reported a status yet")},
			"without target": {"status: {conditions: [{type: AbleToScale, status: 'False', reason: FailedGetScale, message: no such Deployment}]}",
				not("FailedGetScale: no such Deployment")},
			"without metrics": {"status: {conditions: [{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'False'}]}", isReady()},
		},
		"apiextensions.k8s.io/v1 CustomResourceDefinition": {
			"just created": {"", not("Install in progress")},
			"established":  {"status: {conditions: [{type: Established, status: 'True'}]}", isReady()},
			"bad names":    {"status: {conditions: [{type: NamesAccepted, status: 'False', message: taken}]}", failed("taken")},
		},
		"route.openshift.io/v1 Route": {
			"just created": {"", not("no router has admitted it yet")},
			"refused":      {"status: {ingress: [{conditions: [{type: Admitted, status: 'False', reason: HostAlreadyClaimed, message: taken since 2026-01-02T03:04:05Z}]}]}", not("not admitted: HostAlreadyClaimed: taken since (time)")},
			"admitted":     {"status: {ingress: [{conditions: [{type: Admitted, status: 'False'}]}, {conditions: [{type: Admitted, status: 'True'}]}]}", isReady()},
		},
		"v1 ConfigMap":                 {"just created": {"", isReady()}},
		"networking.k8s.io/v1 Ingress": {"just created": {"", isReady()}},
		"batch/v1 CronJob":             {"just created": {"", isReady()}},
		"example.com/v1 Thing": {
			"just created":   {"", isReady()},
			"changed":        {"status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}", not(unobserved)},
			"Ready":          {"status: {conditions: [{type: Ready, status: 'True'}]}", isReady()},
			"Ready, but old": {"status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}", not(unobserved)},
			"all old":        {"status: {conditions: [{type: Accepted, status: 'True', observedGeneration: 1}]}", not(unobserved)},
			"Available, but old": {"status: {conditions: [{type: Available, status: 'True', observedGeneration: 1}, {type: Accepted, status: 'True', observedGeneration: 2}]}",
				not(unobserved)},
			"Available, with an older one": {"status: {conditions: [{type: Available, status: 'True', observedGeneration: 2}, {type: Accepted, status: 'True', observedGeneration: 1}]}",
				isReady()},
			"not Ready": {"status: {conditions: [{type: Ready, status: 'False', message: \"a\\n b\"}]}", not("a b")},
			"Reconciling": {"status: {conditions: [{type: Ready, status: 'True'}, {type: Reconciling, status: 'True', message: soon}]}",
				not("soon")},
			"Stalled":         {"status: {conditions: [{type: Stalled, status: 'True', message: broken}]}", failed("broken")},
			"without message": {"status: {conditions: [{type: Ready, status: Unknown}]}", not("not ready")},
			"talkative": {"status: {conditions: [{type: Ready, status: 'False', message: " + strings.Repeat("é", 200) + "}]}",
				not(strings.Repeat("é", 126) + "…")},
		},
	} {
		apiVersion, name, _ := strings.Cut(kind, " ")
		for state, test := range tests {
			t.Run(name+" "+state, func(t *testing.T) {
				obj := read(t, "apiVersion: "+apiVersion+"\nkind: "+name+"\nmetadata: {name: x, generation: 2}\n"+test.rest)
				got, err := readiness.Of(obj, nil, false)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("Of (-want +got):\n%s", diff)
				}
				got, err = readiness.Of(kept(t, obj), nil, false)
				if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
					t.Errorf("Of what is kept: %v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

// kept is what the cache keeps of an object without a health entry, with a template of Pods
// that it does not keep.
func kept(t *testing.T, obj map[string]any) map[string]any {
	t.Helper()
	if spec, is := obj["spec"].(map[string]any); is && strings.HasPrefix(obj["apiVersion"].(string), "apps/") {
		spec["template"] = map[string]any{"spec": map[string]any{}}
	}
	packed, body := cached(t, obj, nil)
	if strings.Contains(string(packed), `"template"`) {
		t.Error("the template of Pods is kept")
	}
	return body
}

// cached is what the cache keeps of an object: its JSON, and what is made of it.
func cached(t *testing.T, obj map[string]any, set *health.Set) (kept []byte, body map[string]any) {
	t.Helper()
	gvk := schema.FromAPIVersionAndKind(obj["apiVersion"].(string), obj["kind"].(string))
	need := readiness.Needs(set, gvk.GroupKind())
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := live.Pack(text)
	if err != nil {
		t.Fatal(err)
	}
	if need == live.Metadata {
		return nil, map[string]any{"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": obj["metadata"]}
	}
	l, err := live.Of(gvk, packed)
	if err == nil {
		l, err = live.Of(gvk, l.Cut(need).Runtime()) // through a list
	}
	if err != nil {
		t.Fatal(err)
	}
	l = l.Cut(need)
	kept = l.Runtime().(*live.Packed).JSON
	if l, err = l.Unpacked(); err != nil {
		t.Fatal(err)
	}
	return kept, l.Body
}

// TestKeepsWhatEntriesRead checks with the statuses that the built-in entries are tested
// with: what is kept of an object gives the same verdict as all of it, and what no entry
// reads is not kept.
func TestKeepsWhatEntriesRead(t *testing.T) {
	text, err := os.ReadFile("../health/testdata/builtin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Object map[string]any }
	if err := utilyaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		gvk := schema.FromAPIVersionAndKind(c.Object["apiVersion"].(string), c.Object["kind"].(string))
		rule := readiness.RuleFor(nil, gvk.GroupKind())
		for _, name := range []string{"spec", "status"} {
			if field, is := c.Object[name].(map[string]any); is {
				field["large"] = strings.Repeat("x", 10_000)
			}
		}
		want, err := readiness.Of(c.Object, rule, true)
		if err != nil {
			t.Fatal(err)
		}
		packed, body := cached(t, c.Object, nil)
		if len(packed) > 10_000 {
			t.Errorf("%s keeps %d bytes", rule, len(packed))
		}
		got, err := readiness.Of(body, rule, true)
		if err != nil || got != want {
			t.Errorf("%s: what is kept is %v (%v), all of it %v\n%s", rule, got, err, want, packed)
		}
	}
}

// TestKeepsWhatMattersBesides checks with entries of an author that what is kept of an
// object is enough for all who ask: an entry that reads little, or nothing that is there,
// and what else is asked of a workload.
func TestKeepsWhatMattersBesides(t *testing.T) {
	list, errs := health.CompileList([]health.Entry{
		{APIVersion: "example.com/v1", Current: "status.health.level > 1", Message: "'level ' + string(status.health.level)"},
		{APIVersion: "apps/v1", Current: "spec.template.metadata.labels.a == 'b'"}, {APIVersion: "batch/v1", Current: "true"},
		{APIVersion: "v1", Current: "true"}, {APIVersion: "argoproj.io/v1alpha1", Current: "true"},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	set := health.NewSet(list, nil)
	for name, text := range map[string]string{
		"no status":       "{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}}",
		"an empty status": "{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}, status: {}}",
		"another status":  "{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}, status: {other: {a: b}, more: c}}",
		"another part":    "{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}, status: {health: {other: 1}}}",
		"too low":         "{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}, status: {health: {level: 1, other: 2}}}",
		"current":         "{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}, status: {health: {level: 2}}}",
		"Deployment": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: web, uid: u}, spec: {replicas: 0, " +
			"selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}, status: {x: y}}",
		"Job": "{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {suspend: true, template: {spec: {}}}, " +
			"status: {conditions: [{type: Complete, status: 'True'}]}}",
		"Rollout": "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: x}, spec: {replicas: 0, template: {spec: {}}}}",
		"Pod":     "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {nodeName: a}, status: {phase: Failed, conditions: []}}",
	} {
		t.Run(name, func(t *testing.T) {
			obj := read(t, text)
			gk := schema.FromAPIVersionAndKind(obj["apiVersion"].(string), obj["kind"].(string)).GroupKind()
			_, body := cached(t, obj, set)
			want, err := readiness.Of(obj, readiness.RuleFor(set, gk), false)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := readiness.Of(body, readiness.RuleFor(set, gk), false); err != nil || got != want {
				t.Errorf("what is kept is %v (%v), all of it %v", got, err, want)
			}
			if got, want := fmt.Sprint(readiness.PodSelector(body)), fmt.Sprint(readiness.PodSelector(obj)); got != want {
				t.Errorf("the selector of Pods is %s, want %s", got, want)
			}
			if got, want := readiness.RunsPods(body), readiness.RunsPods(obj); got != want {
				t.Errorf("it runs Pods: %v, want %v", got, want)
			}
			for _, path := range [][]string{{"spec", "replicas"}, {"spec", "suspend"}, {"status", "phase"}, {"status", "conditions"}} {
				want, _, _ := unstructured.NestedFieldNoCopy(obj, path...)
				if got, _, _ := unstructured.NestedFieldNoCopy(body, path...); !cmp.Equal(got, want) {
					t.Errorf("%v is %v, want %v", path, got, want)
				}
			}
		})
	}
}

func TestOfBeingDeleted(t *testing.T) {
	for _, kind := range []string{"v1, kind: ConfigMap", "v1, kind: Pod", "example.com/v1, kind: Thing"} {
		obj := read(t, "{apiVersion: "+kind+", metadata: {name: x, deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {phase: Succeeded}}")
		got, err := readiness.Of(obj, nil, false)
		if err != nil || got != not("being deleted") {
			t.Errorf("%s: got %+v, %v", kind, got, err)
		}
	}
}

// TestOfUnknownKind: of a kind without rules, a condition that sums it up decides where
// kstatus finds nothing wrong. Without one the object counts as ready, and the message
// says what is known.
func TestOfUnknownKind(t *testing.T) {
	unreported := readiness.Verdict{State: readiness.Unreported, Message: "it has no conditions yet"}
	known := func(message string) readiness.Verdict {
		return readiness.Verdict{State: readiness.Ready, Message: "health not known: it reports " + message}
	}
	for status, want := range map[string]struct{ declared, not readiness.Verdict }{
		"":                                                    {unreported, isReady()},
		"status: {conditions: []}":                            {unreported, isReady()},
		"status: {phase: Running}":                            {unreported, isReady()},
		"status: {observedGeneration: 1}":                     {not(unobserved), not(unobserved)},
		"status: {observedGeneration: 2}":                     {unreported, isReady()},
		"status: {observedGeneration: '1'}":                   same(not(unobserved)),
		"status: {observedGeneration: 6f5d7c9b}":              {unreported, isReady()},
		"status: {conditions: [{type: Any, status: 'True'}]}": same(known("Any=True")),
		"status: {conditions: [{type: B, status: 'False'}, {type: A, status: 'True'}]}":                           same(known("A=True, B=False")),
		"status: {conditions: [{type: SyncError, message: no such host}]}":                                        same(known("SyncError")),
		"status: {observedGeneration: 2, conditions: [{type: A, status: 'True'}]}":                                same(known("A=True")),
		"status: {observedGeneration: 1, conditions: [{type: A, status: 'True'}]}":                                same(not(unobserved)),
		"status: {conditions: [{type: A, status: 'True', observedGeneration: 1}]}":                                same(not(unobserved)),
		"status: {conditions: [{type: Available, status: 'True'}, {type: Any, status: 'True'}]}":                  same(isReady()),
		"status: {conditions: [{type: Available, status: 'False', reason: Down}]}":                                same(not("Available=False: Down")),
		"status: {conditions: [{type: Available, status: 'False'}, {type: Ready, status: 'True'}]}":               same(isReady()),
		"status: {conditions: [{type: Healthy, status: Unknown}]}":                                                same(not("Healthy=Unknown")),
		"status: {conditions: [{type: Synced, status: 'True'}, {type: Healthy, status: 'False', message: sick}]}": same(not("Healthy=False: sick")),
		"status: {conditions: [{type: Synced, status: 'False', reason: ReconcileError, message: denied}]}":        same(not("Synced=False: ReconcileError: denied")),
		"status: {conditions: [{type: Succeeded, status: Unknown, reason: Running}]}":                             same(not("Succeeded=Unknown: Running")),
		"status: {conditions: [{type: Succeeded, status: 'True'}]}":                                               same(isReady()),
		"status: {conditions: [{type: Stalled, status: 'True', message: broken}]}":                                same(failed("broken")),
	} {
		for declared, want := range map[bool]readiness.Verdict{true: want.declared, false: want.not} {
			got, err := readiness.Of(read(t, "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x, generation: 2}\n"+status), nil, declared)
			if err != nil || got != want {
				t.Errorf("%q, whose CRD declares conditions: %v: got %+v, %v, want %+v", status, declared, got, err, want)
			}
		}
	}
}

func same(v readiness.Verdict) struct{ declared, not readiness.Verdict } {
	return struct{ declared, not readiness.Verdict }{v, v}
}

// TestOfBuiltInConditions: what Kubernetes' own kinds report besides is not about their
// health.
func TestOfBuiltInConditions(t *testing.T) {
	got, err := readiness.Of(read(t, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: x, generation: 1}\n"+
		"status: {observedGeneration: 1, conditions: [{type: DisruptionAllowed, status: 'False', reason: InsufficientPods}]}"), nil, false)
	if err != nil || got != isReady() {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestOfRule: a health entry decides for its kind, whatever the object's conditions and
// the rules of the engine say; deletion alone comes before it.
func TestOfRule(t *testing.T) {
	list, wrong := health.CompileList([]health.Entry{{APIVersion: "example.com/v1", Kind: "Thing", Current: "status.phase == 'Done'",
		InProgress: "status.phase == 'Busy'", Failed: "status.phase == 'Broken'"}, {APIVersion: "apps/v1", Kind: "Deployment", Current: "true"}})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for object, want := range map[string]readiness.Verdict{
		"status: {phase: Done, conditions: [{type: Ready, status: 'False'}]}": isReady(),
		"status: {phase: Busy}":                        not("phase Busy"),
		"status: {phase: Broken, message: \"a\\n b\"}": {State: readiness.Failing, Message: "a b"},
		"status: {phase: Done, observedGeneration: 1}": not(unobserved),
		"": not("it has no status yet"),
	} {
		obj := read(t, "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x, generation: 2}\n"+object)
		if got, err := readiness.Of(obj, list.Find(schema.GroupKind{Group: "example.com", Kind: "Thing"}), true); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", object, got, err, want)
		}
	}
	deployment := read(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, generation: 2}")
	rule := list.Find(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if got, err := readiness.Of(deployment, rule, false); err != nil || got != isReady() {
		t.Errorf("a Deployment with an entry: got %+v, %v", got, err)
	}
	deployment["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	if got, err := readiness.Of(deployment, rule, false); err != nil || got != not("being deleted") {
		t.Errorf("a Deployment with an entry that is being deleted: got %+v, %v", got, err)
	}
}

// TestAfter: what may pass counts once it has lasted for 60 s.
func TestAfter(t *testing.T) {
	const short, long = 60*time.Second - 1, 60 * time.Second
	unreported := readiness.Verdict{State: readiness.Unreported, Message: "it has no conditions yet"}
	failing := readiness.Verdict{State: readiness.Failing, Message: "denied"}
	for _, c := range []struct {
		is     readiness.Verdict
		lasted time.Duration
		want   readiness.Verdict
	}{
		{unreported, 0, unreported}, {unreported, short, unreported},
		{unreported, long, readiness.Verdict{State: readiness.Ready, Message: readiness.MessageSilent}},
		{failing, short, failing}, {failing, long, failed("denied")},
		{not("busy"), time.Hour, not("busy")}, {failed("gone"), 0, failed("gone")}, {isReady(), time.Hour, isReady()},
	} {
		if got := c.is.After(c.lasted); got != c.want {
			t.Errorf("%+v after %s: got %+v, want %+v", c.is, c.lasted, got, c.want)
		}
	}
}

func TestOfWrongStatus(t *testing.T) {
	_, err := readiness.Of(read(t, "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\nstatus: {conditions: text}"), nil, false)
	if err == nil || !strings.HasPrefix(err.Error(), "judging Thing x: ") {
		t.Errorf("got error %v", err)
	}
}

// TestNeeds checks that just the fields are kept which a health entry reads, from which a
// message may come, or which say whether a workload runs.
func TestNeeds(t *testing.T) {
	config, thing := schema.GroupKind{Kind: "ConfigMap"}, schema.GroupKind{Group: "example.com", Kind: "Thing"}
	with := func(paths ...[]string) live.Need {
		for _, name := range []string{"conditions", "message", "observedGeneration", "phase", "reason"} {
			paths = append(paths, []string{"status", name})
		}
		paths = append(paths, []string{"spec", "replicas"}, []string{"spec", "suspend"})
		return live.NeedOf(paths...)
	}
	for current, want := range map[string]live.Need{
		"true": with(), "has(status.a) && spec.b == metadata.name": with([]string{"status", "a"}, []string{"spec", "b"}),
		"has(data.a)": with([]string{"data", "a"}), "metadata.annotations['a'] == 'b'": with([]string{"metadata", "annotations", "a"}),
		"has(operation.sync)":                    with([]string{"operation", "sync"}),
		"status.conditions.exists(c, has(c.a))":  with(),
		"size(status) > 1 && spec.a[spec.b] > 1": with([]string{"status"}, []string{"spec", "a"}, []string{"spec", "b"}),
	} {
		list, errs := health.CompileList([]health.Entry{{APIVersion: "v1", Current: current}, {APIVersion: "example.com/v1", Current: current}})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, gk := range []schema.GroupKind{config, thing} {
			if got := readiness.Needs(health.NewSet(nil, list), gk); got != want {
				t.Errorf("%s of %s: %s, want %s", current, gk, got, want)
			}
		}
	}
	if config, thing := readiness.Needs(nil, config), readiness.Needs(nil, thing); config != live.Metadata || thing != live.Readiness {
		t.Errorf("without entries: %s, %s", config, thing)
	}
	list, errs := health.CompileList([]health.Entry{{APIVersion: "apps/v1", Current: "spec.template.spec.hostNetwork == true"}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	got := readiness.Needs(health.NewSet(nil, list), schema.GroupKind{Group: "apps", Kind: "Deployment"})
	for _, path := range [][]string{{"spec", "template", "spec", "hostNetwork"}, {"spec", "selector"}, {"spec", "suspend"}, {"status"}} {
		if !got.Includes(path...) {
			t.Errorf("of a Deployment %s is kept, without %s", got, path)
		}
	}
}

func TestNeedsBody(t *testing.T) {
	tests := map[schema.GroupKind]bool{
		{Kind: "ConfigMap"}: false, {Kind: "Secret"}: false, {Kind: "ServiceAccount"}: false,
		{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}: false,
		{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:       false,
		{Group: "storage.k8s.io", Kind: "StorageClass"}:           false,
		{Kind: "Service"}: true, {Kind: "Pod"}: true, {Kind: "PersistentVolumeClaim"}: true,
		{Group: "apps", Kind: "Deployment"}: true, {Group: "example.com", Kind: "ConfigMap"}: true,
		{Group: "example.com", Kind: "Thing"}: true,
	}
	for gk, want := range tests {
		if got := readiness.NeedsBody(nil, gk); got != want {
			t.Errorf("NeedsBody %s: got %v, want %v", gk, got, want)
		}
	}
}

// TestBodilessKindsAreReadyAtOnce: what needs no body is ready from its metadata alone, and only then.
func TestBodilessKindsAreReadyAtOnce(t *testing.T) {
	for _, kind := range []string{"v1, kind: ConfigMap", "v1, kind: Namespace", "networking.k8s.io/v1, kind: Ingress",
		"batch/v1, kind: CronJob"} {
		obj := read(t, "{apiVersion: "+kind+", metadata: {name: x, generation: 3}}")
		if got, err := readiness.Of(obj, nil, false); err != nil || !got.IsReady() {
			t.Errorf("%s: got %+v, %v", kind, got, err)
		}
	}
}
