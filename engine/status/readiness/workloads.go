package readiness

import (
	"fmt"
	"regexp"
	"strings"
)

// deployment counts replicas, unless the rollout gave up.
func deployment(obj map[string]any) Verdict {
	v := counted(obj, "updatedReplicas", "readyReplicas", "availableReplicas")
	cs := conditions(obj)
	if !v.IsReady() {
		v.Message = join(v.Message, uncreated(cs))
	}
	switch c := find(cs, "Progressing"); c.Reason {
	case "ProgressDeadlineExceeded":
		return failed(join("the rollout exceeded its progress deadline", v.Message))
	case "DeploymentPaused":
		if !v.IsReady() {
			v.Message = join(v.Message, "it is paused")
		}
	case "ReplicaSetCreateError":
		return waiting(join(v.Message, "its ReplicaSet cannot be created: "+c.Message))
	}
	if v.IsReady() && find(cs, "Available").Status != "True" {
		return waiting("it is not available yet")
	}
	return v
}

// uncreated says why replicas cannot be created; "" if they can.
func uncreated(cs []condition) string {
	c := find(cs, "ReplicaFailure")
	if c.Status != "True" {
		return ""
	}
	return join("replicas cannot be created ("+c.Reason+")", forbidden.ReplaceAllString(c.Message, ""))
}

// forbidden begins the message about a Pod that was not created: its name is
// another one at every try.
var forbidden = regexp.MustCompile(`^pods "[^"]*" is forbidden: `)

// statefulSet counts replicas; with a partition only those above it are to be
// updated, and with OnDelete none.
func statefulSet(obj map[string]any) Verdict {
	usable := []string{"readyReplicas"}
	if _, reported := integer(obj, "status", "availableReplicas"); reported {
		usable = append(usable, "availableReplicas")
	}
	if str(obj, "spec", "updateStrategy", "type") == "OnDelete" {
		return counted(obj, usable...)
	}
	partition, ok := integer(obj, "spec", "updateStrategy", "rollingUpdate", "partition")
	if !ok || partition == 0 {
		v := counted(obj, append([]string{"updatedReplicas"}, usable...)...)
		if v.IsReady() && str(obj, "status", "currentRevision") != str(obj, "status", "updateRevision") {
			return waiting("the rollout is not complete")
		}
		return v
	}
	updated, _ := integer(obj, "status", "updatedReplicas")
	if want := wanted(obj) - partition; updated < want {
		return waiting(fmt.Sprintf("%d of %d replicas are updated", updated, want))
	}
	return counted(obj, usable...)
}

// replicas counts the replicas of a ReplicaSet or ReplicationController.
func replicas(obj map[string]any) Verdict {
	v := counted(obj, "readyReplicas", "availableReplicas")
	if !v.IsReady() {
		v.Message = join(v.Message, uncreated(conditions(obj)))
	}
	return v
}

// counted compares counters of the status with spec.replicas, in this order.
func counted(obj map[string]any, counters ...string) Verdict {
	want := wanted(obj)
	for _, counter := range counters {
		n, _ := integer(obj, "status", counter)
		if n < want {
			word := strings.TrimSuffix(counter, "Replicas")
			return waiting(fmt.Sprintf("%d of %d replicas are %s", n, want, word))
		}
	}
	if n, _ := integer(obj, "status", "replicas"); n > want {
		return waiting(fmt.Sprintf("old replicas are still there: %d", n-want))
	}
	return ready
}

func wanted(obj map[string]any) int64 {
	if n, ok := integer(obj, "spec", "replicas"); ok {
		return n
	}
	return 1
}

// daemonSet counts nodes.
func daemonSet(obj map[string]any) Verdict {
	want, ok := integer(obj, "status", "desiredNumberScheduled")
	if !ok {
		return waiting(messageNoStatus)
	}
	onDelete := str(obj, "spec", "updateStrategy", "type") == "OnDelete"
	for _, counter := range []struct{ field, word string }{
		{"currentNumberScheduled", "have its pod"}, {"updatedNumberScheduled", "are updated"},
		{"numberReady", "are ready"}, {"numberAvailable", "are available"},
	} {
		if onDelete && counter.field == "updatedNumberScheduled" {
			continue
		}
		if n, _ := integer(obj, "status", counter.field); n < want {
			return waiting(fmt.Sprintf("%d of %d nodes %s", n, want, counter.word))
		}
	}
	return ready
}

// job is ready when it is Complete: kstatus calls a running one current.
func job(obj map[string]any) Verdict {
	cs := conditions(obj)
	if find(cs, "Complete").Status == "True" {
		return ready
	}
	if c := find(cs, "Failed"); c.Status == "True" {
		return failed(join("failed ("+c.Reason+")", c.Message))
	}
	if find(cs, "Suspended").Status == "True" {
		return waiting("suspended")
	}
	done, _ := integer(obj, "status", "succeeded")
	if want, ok := integer(obj, "spec", "completions"); ok {
		return waiting(fmt.Sprintf("%d of %d completions", done, want))
	}
	return waiting("not complete yet")
}
