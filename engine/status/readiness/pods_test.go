package readiness_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestPodReasons: what the Pods of a Deployment wait for, and of nobody else's.
func TestPodReasons(t *testing.T) {
	deployment := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: d}, spec: {selector: {matchLabels: {app: web}}}}`)
	pods := []*unstructured.Unstructured{
		waitingPod(t, "web-77", "ImagePullBackOff", `Back-off pulling image "a:1": ErrImagePull: rpc error: a:1: not found`),
		waitingPod(t, "web-77", "ErrImagePull", `rpc error: a:1: not found`),
		waitingPod(t, "web-77", "InvalidImageName", `couldn't parse image name "A"`),
		waitingPod(t, "webshop-1", "CrashLoopBackOff", "back-off 5m0s"),
		object(t, `{metadata: {name: bare}, status: {phase: Pending}}`),
		object(t, `{metadata: {ownerReferences: [{kind: ReplicaSet, name: web-77, controller: true}]}, status: {phase: Succeeded}}`),
	}
	want := []readiness.PodReason{
		{Message: `container a: InvalidImageName: couldn't parse image name "A"`, Failed: true},
		{Message: "container a: ImagePullBackOff: rpc error: a:1: not found"},
	}
	if diff := cmp.Diff(want, readiness.PodReasons(deployment.Object, pods, readiness.StablePod)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	job := object(t, `{apiVersion: batch/v1, kind: Job, metadata: {name: web, uid: j}}`)
	if got := readiness.PodReasons(job.Object, pods, readiness.StablePod); got != nil {
		t.Errorf("a Job has Pods of others: %v", got)
	}
}

func waitingPod(t *testing.T, owner, reason, message string) *unstructured.Unstructured {
	u := object(t, `{metadata: {ownerReferences: [{kind: ReplicaSet, controller: true}]}, status: {phase: Pending, containerStatuses: [
	  {name: a, state: {waiting: {}}, lastState: {terminated: {reason: Error, exitCode: 3, message: a secret}}}]}}`)
	refs := u.Object["metadata"].(map[string]any)["ownerReferences"].([]any)
	refs[0].(map[string]any)["name"] = owner
	state := u.Object["status"].(map[string]any)["containerStatuses"].([]any)[0].(map[string]any)
	state["state"] = map[string]any{"waiting": map[string]any{"reason": reason, "message": message}}
	return u
}

// TestForPerson: a person sees all that the kubelet says, and never what a container wrote.
func TestForPerson(t *testing.T) {
	v := readiness.ForPerson(waitingPod(t, "web-1", "CrashLoopBackOff", "back-off 5m0s restarting failed container=a").Object)
	want := "container a: CrashLoopBackOff: back-off 5m0s restarting failed container=a; it ended before with exit code 3 (Error)"
	if v.Message != want || v.State != readiness.Waiting {
		t.Errorf("got %+v, want %s", v, want)
	}
}

// TestStablePod: the same trouble has the same words at every try, and the end of a
// long message is kept.
func TestStablePod(t *testing.T) {
	head := `failed to pull and unpack image "registry.invalid/team/shop:1": failed to resolve reference "registry.invalid/team/shop:1": `
	for _, message := range []string{
		head + `failed to do request: Head "https://registry.invalid/v2/": dial tcp: lookup registry.invalid: read udp 10.0.0.1:40123->10.0.0.10:53: i/o timeout`,
		`Back-off pulling image "registry.invalid/team/shop:1": ErrImagePull: ` + head +
			`failed to do request: Head "https://registry.invalid/v2/": dial tcp: lookup registry.invalid: read udp 10.0.0.1:50321->10.0.0.10:53: i/o timeout`,
	} {
		want := `container a: ImagePullBackOff: failed to pull and unpack image "registry.invalid/team/shop:…do request: ` +
			`Head "https://registry.invalid/v2/": dial tcp: lookup registry.invalid: read udp ->10.0.0.10:53: i/o timeout`
		if got := readiness.StablePod(waitingPod(t, "web-1", "ErrImagePull", message).Object).Message; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestPodSelector: only workloads of Kubernetes' own kinds have one.
func TestPodSelector(t *testing.T) {
	for text, want := range map[string]string{
		`{apiVersion: apps/v1, kind: StatefulSet, spec: {selector: {matchLabels: {b: x, a: z}}}}`:                                 "a=z,b=x",
		`{apiVersion: batch/v1, kind: Job, spec: {selector: {matchExpressions: [{key: a, operator: In, values: [x, z]}]}}}`:       "a in (x,z)",
		`{apiVersion: batch/v1, kind: CronJob, spec: {selector: {matchLabels: {a: z}}}}`:                                          "",
		`{apiVersion: v1, kind: Service, spec: {selector: {a: z}}}`:                                                               "",
		`{apiVersion: apps/v1, kind: Deployment, spec: {selector: {}}}`:                                                           "",
		`{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: x}}}`:                                             "",
		`{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchExpressions: [{key: a, operator: In}]}}}`:                 "",
		`{apiVersion: apps/v1, kind: ReplicaSet, spec: {selector: {matchExpressions: [{key: a, operator: Exists, values: []}]}}}`: "a",
		`{apiVersion: example.com/v1, kind: Deployment, spec: {selector: {matchLabels: {a: z}}}}`:                                 "",
	} {
		got := ""
		if s := readiness.PodSelector(object(t, text).Object); s != nil {
			got = s.String()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
