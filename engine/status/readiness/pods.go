package readiness

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// pod is ready when its Ready condition is True, or when it has succeeded.
func pod(obj map[string]any) Verdict { return judgePod(obj, stableReason) }

func judgePod(obj map[string]any, tell func(containerState) string) Verdict {
	cs := conditions(obj)
	phase := str(obj, "status", "phase")
	switch {
	case phase == "Succeeded":
		return ready
	case phase == "Failed":
		return failed(join("failed", str(obj, "status", "reason")))
	case find(cs, "Ready").Status == "True":
		return ready
	case phase == "":
		return waiting(messageNoStatus)
	}
	if c := find(cs, "PodScheduled"); c.Status == "False" {
		return waiting(join(join("not scheduled", c.Reason), c.Message))
	}
	stuck := append(containers(obj, "initContainerStatuses"), containers(obj, "containerStatuses")...)
	if len(stuck) == 0 {
		return waiting("phase " + phase + ", not ready")
	}
	v := Verdict{}
	texts := make([]string, len(stuck))
	for i, c := range stuck {
		texts[i] = "container " + c.name + ": " + tell(c)
		if c.reason == "InvalidImageName" {
			v.State = Failed
		}
	}
	v.Message = strings.Join(texts, ", ")
	return v
}

// A containerState is that of a container which waits: why, and how it ended before.
type containerState struct {
	name, reason, message string
	exitReason            string
	exitCode              int64
}

// containers are those that wait, by name. What a container wrote when it ended is
// never read: it may hold secrets.
func containers(obj map[string]any, field string) []containerState {
	var stuck []containerState
	for _, item := range list(obj, "status", field) {
		m, _ := item.(map[string]any)
		reason := str(m, "state", "waiting", "reason")
		if reason == "" || reason == "PodInitializing" {
			continue
		}
		c := containerState{name: str(m, "name"), reason: reason, message: str(m, "state", "waiting", "message"),
			exitReason: str(m, "lastState", "terminated", "reason")}
		c.exitCode, _ = integer(m, "lastState", "terminated", "exitCode")
		stuck = append(stuck, c)
	}
	slices.SortFunc(stuck, func(a, b containerState) int { return strings.Compare(a.name, b.name) })
	return stuck
}

// explained are the reasons of waiting containers whose message says what is
// wrong. Others tell of tries, and change with each.
var explained = []string{"CreateContainerConfigError", "ErrImageNeverPull", "InvalidImageName"}

// stableReason is the same for the same trouble: a kubelet says ErrImagePull and
// ImagePullBackOff in turn.
func stableReason(c containerState) string {
	switch {
	case c.reason == "ErrImagePull" || c.reason == "ImagePullBackOff":
		return join("ImagePullBackOff", pullError(c.message))
	case slices.Contains(explained, c.reason):
		return join(c.reason, c.message)
	}
	return c.reason
}

var (
	// tries begins the message of a kubelet that waits before it pulls again.
	tries = regexp.MustCompile(`^Back-off pulling image "[^"]*"(: ErrImagePull)?:? ?`)
	// port is another one at every try.
	port = regexp.MustCompile(`\S+:\d+->`)
)

// pullError is why an image was not pulled, whichever message of the kubelet says it.
func pullError(message string) string {
	return elide(port.ReplaceAllString(tries.ReplaceAllString(message, ""), "->"))
}

// mostPullError is how much is told of why an image was not pulled, in bytes.
const mostPullError = 180

// elide leaves out the middle of a long message: its end says most.
func elide(message string) string {
	if len(message) <= mostPullError {
		return message
	}
	const head = mostPullError / 3
	return strings.ToValidUTF8(message[:head], "") + "…" + strings.ToValidUTF8(message[len(message)-(mostPullError-head):], "")
}

// fullReason is what a kubelet says at the moment, and how the container ended before.
func fullReason(c containerState) string {
	text := join(c.reason, c.message)
	if c.exitReason != "" {
		text += fmt.Sprintf("; it ended before with exit code %d (%s)", c.exitCode, c.exitReason)
	}
	return text
}

// maxFull is the longest message of ForPerson, in bytes.
const maxFull = 1024

// ForPerson judges a Pod as Of does. Its message is for a person who looks now: it has
// what the kubelet says of each container that waits, which may change with each try.
func ForPerson(obj map[string]any) Verdict {
	if str(obj, "metadata", "deletionTimestamp") != "" {
		return waiting(MessageDeleted)
	}
	v := judgePod(obj, fullReason)
	if v.IsReady() {
		return v
	}
	v.Message = strings.Join(strings.Fields(v.Message), " ")
	if len(v.Message) > maxFull {
		v.Message = strings.ToValidUTF8(v.Message[:maxFull], "") + "…"
	}
	return v
}

// HasPods reports whether objects of a kind are workloads of Kubernetes' own that have
// Pods.
func HasPods(gk schema.GroupKind) bool {
	return gk.Group == "apps" && gk.Kind != "ControllerRevision" || gk == schema.GroupKind{Group: "batch", Kind: "Job"}
}

// PodSelector is what selects the Pods of a workload of Kubernetes' own kinds; nil for
// an object of another kind, and for one without a selector.
func PodSelector(obj map[string]any) labels.Selector {
	if !HasPods(kindOf(obj)) {
		return nil
	}
	field, _ := at(obj, "spec", "selector").(map[string]any)
	var said metav1.LabelSelector
	if len(field) == 0 || runtime.DefaultUnstructuredConverter.FromUnstructured(field, &said) != nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&said)
	if err != nil || selector.Empty() {
		return nil
	}
	return selector
}

// A PodReason is what Pods wait for.
type PodReason struct {
	Message string
	// Failed: it will not become better by waiting.
	Failed bool
}

// PodReasons tells what the Pods of a workload wait for, each reason once, those first
// that will not become better by waiting. judge is Of or ForPerson.
func PodReasons(workload map[string]any, pods []*unstructured.Unstructured, judge func(map[string]any) Verdict) []PodReason {
	var all []PodReason
	for _, p := range pods {
		if !makes(workload, p) || p.GetDeletionTimestamp() != nil {
			continue
		}
		v := judge(p.Object)
		reason := PodReason{v.Message, v.IsFailed()}
		if !v.IsReady() && !slices.Contains(all, reason) {
			all = append(all, reason)
		}
	}
	slices.SortFunc(all, func(a, b PodReason) int {
		if a.Failed != b.Failed {
			return map[bool]int{true: -1, false: 1}[a.Failed]
		}
		return cmp.Compare(a.Message, b.Message)
	})
	return all
}

// makes reports whether a Pod is one of a workload: those of a Deployment belong to its
// ReplicaSets, whose names begin with that of the Deployment.
func makes(workload map[string]any, pod *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return false
	}
	if str(workload, "kind") == "Deployment" {
		return owner.Kind == "ReplicaSet" && strings.HasPrefix(owner.Name, str(workload, "metadata", "name")+"-")
	}
	return string(owner.UID) == str(workload, "metadata", "uid")
}

// StablePod judges a Pod as Of does, with messages that are the same for the same trouble.
func StablePod(obj map[string]any) Verdict { return tidy(pod(obj)) }
