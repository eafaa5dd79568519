package readiness

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/status/health"
)

// claim judges a PersistentVolumeClaim by itself. Of one that gets its volume from a
// StorageClass the verdict is Unbound: WithClass completes it.
func claim(obj map[string]any) Verdict {
	switch phase := str(obj, "status", "phase"); phase {
	case "Bound":
		return ready
	case "Lost":
		return failed("its volume is lost")
	case "":
		return waiting(messageNoStatus)
	default:
		v := waiting(join("phase "+phase, told(obj)))
		if phase == "Pending" && str(obj, "spec", "volumeName") == "" && at(obj, "spec", "storageClassName") != "" {
			v.State = Unbound
		}
		return v
	}
}

// ReadsClasses reports whether readiness of this kind may depend on a StorageClass.
func ReadsClasses(set *health.Set, gk schema.GroupKind) bool {
	return gk == schema.GroupKind{Kind: "PersistentVolumeClaim"} && RuleFor(set, gk) == nil
}

// A StorageClass is what is known of the class of a claim. The zero one does not exist.
type StorageClass struct {
	Name string
	// Exists is false if the cluster has no such class.
	Exists bool
	// BindsLate is true if the class makes a volume once a Pod that mounts the claim is
	// scheduled, and not before.
	BindsLate bool
	// Unknown is why the class could not be read, or "".
	Unknown string
}

// ClassName returns the name of the StorageClass of a claim; "" is the default one.
func ClassName(claim map[string]any) string { return str(claim, "spec", "storageClassName") }

// SelectClass returns the class of this name among the StorageClasses of a cluster, or for
// "" the default one. Of several default ones it is the newest, as for the API server.
func SelectClass(name string, classes []map[string]any) StorageClass {
	classes = slices.DeleteFunc(slices.Clone(classes), func(c map[string]any) bool {
		return name != "" && str(c, "metadata", "name") != name || name == "" && !isDefaultClass(c)
	})
	if len(classes) == 0 {
		return StorageClass{Name: name}
	}
	first := slices.MinFunc(classes, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(str(b, "metadata", "creationTimestamp"), str(a, "metadata", "creationTimestamp")),
			cmp.Compare(str(a, "metadata", "name"), str(b, "metadata", "name")))
	})
	mode := str(first, "volumeBindingMode")
	return StorageClass{Name: str(first, "metadata", "name"), Exists: true, BindsLate: mode == "WaitForFirstConsumer"}
}

func isDefaultClass(class map[string]any) bool {
	return str(class, "metadata", "annotations", "storageclass.kubernetes.io/is-default-class") == "true" ||
		str(class, "metadata", "annotations", "storageclass.beta.kubernetes.io/is-default-class") == "true"
}

// messageUnconsumed is how the message of a claim begins that waits for its first consumer.
const messageUnconsumed = "waits for its first consumer"

// WithClass completes the verdict of an Unbound claim. All other verdicts stay.
func (v Verdict) WithClass(class StorageClass) Verdict {
	called := "StorageClass " + class.Name
	if class.Name == "" {
		called = "default StorageClass"
	}
	switch {
	case v.State != Unbound:
	case class.Unknown != "":
		v = waiting(join(v.Message, join("its StorageClass cannot be read, so whether it "+messageUnconsumed+" is not known", class.Unknown)))
	case !class.Exists:
		v = waiting(join(v.Message, "there is no "+called))
	case class.BindsLate:
		v = Verdict{Unconsumed, fmt.Sprintf("%s: %s makes its volume once a Pod mounts it", messageUnconsumed, called)}
	default:
		v.State = Waiting
	}
	return tidy(v)
}

// ConsumedBy returns the verdict of an Unconsumed claim that the Pods of a workload mount;
// "" is none. All other verdicts stay.
func (v Verdict) ConsumedBy(workload string) Verdict {
	if v.State != Unconsumed || workload == "" {
		return v
	}
	return tidy(waiting(join(messageUnconsumed, workload+" mounts it, and its volume is made once a Pod is scheduled")))
}

// IsUnconsumed reports whether a message is that of a claim that waits for its first
// consumer.
func IsUnconsumed(message string) bool { return strings.HasPrefix(message, messageUnconsumed) }

// Mounts reports whether the Pods of a workload mount a claim. It looks at spec.template,
// so a CronJob has no Pods.
func Mounts(workload, claim map[string]any) bool {
	name := str(claim, "metadata", "name")
	if name == "" || str(workload, "metadata", "namespace") != str(claim, "metadata", "namespace") {
		return false
	}
	spec, _ := at(workload, "spec", "template", "spec").(map[string]any)
	if kindOf(workload) == (schema.GroupKind{Kind: "Pod"}) {
		spec, _ = workload["spec"].(map[string]any)
	}
	return slices.ContainsFunc(list(spec, "volumes"), func(v any) bool {
		volume, _ := v.(map[string]any)
		return str(volume, "persistentVolumeClaim", "claimName") == name
	}) || kindOf(workload) == schema.GroupKind{Group: "apps", Kind: "StatefulSet"} && claimsByTemplate(workload, name)
}

// claimsByTemplate reports whether a StatefulSet has a claim of this name by its
// volumeClaimTemplates: TEMPLATE-SET-ORDINAL.
func claimsByTemplate(set map[string]any, name string) bool {
	start, _ := integer(set, "spec", "ordinals", "start")
	replicas, given := integer(set, "spec", "replicas")
	if !given {
		replicas = 1
	}
	return slices.ContainsFunc(list(set, "spec", "volumeClaimTemplates"), func(v any) bool {
		template, _ := v.(map[string]any)
		rest, found := strings.CutPrefix(name, str(template, "metadata", "name")+"-"+str(set, "metadata", "name")+"-")
		ordinal, err := strconv.ParseInt(rest, 10, 64)
		return found && err == nil && ordinal >= start && ordinal < start+replicas
	})
}

// RunsPods reports whether a live workload is to have running Pods now: it is not
// suspended, not scaled to 0, and not finished.
func RunsPods(workload map[string]any) bool {
	replicas, scales := integer(workload, "spec", "replicas")
	suspended, _ := at(workload, "spec", "suspend").(bool)
	if suspended || scales && replicas == 0 {
		return false
	}
	switch kindOf(workload) {
	case schema.GroupKind{Kind: "Pod"}:
		phase := str(workload, "status", "phase")
		return phase != "Succeeded" && phase != "Failed"
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		cs := conditions(workload)
		return find(cs, "Complete").Status != "True" && find(cs, "Failed").Status != "True"
	case schema.GroupKind{Group: "apps", Kind: "DaemonSet"}:
		wanted, _ := integer(workload, "status", "desiredNumberScheduled")
		return wanted > 0 || behind(workload, true)
	}
	return true
}
