package readiness_test

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

const (
	lateClass  = "{metadata: {name: late}, volumeBindingMode: WaitForFirstConsumer}"
	earlyClass = "{metadata: {name: early}, volumeBindingMode: Immediate}"
	silent     = "{metadata: {name: silent}}"
	marked     = "annotations: {storageclass.kubernetes.io/is-default-class: 'true'}"
	oldDefault = "{metadata: {name: old, creationTimestamp: '2025-01-01T00:00:00Z', " + marked + "}, volumeBindingMode: Immediate}"
	newDefault = "{metadata: {name: new, creationTimestamp: '2026-01-01T00:00:00Z', " + marked + "}, volumeBindingMode: WaitForFirstConsumer}"
	twin       = "{metadata: {name: twin, creationTimestamp: '2026-01-01T00:00:00Z', " + marked + "}, volumeBindingMode: Immediate}"
)

// TestClaim: a claim that waits for its first consumer is ready, unless a child runs Pods
// that mount it. Any other pending claim is waited for, and the message says why.
func TestClaim(t *testing.T) {
	const waits = "waits for its first consumer: StorageClass late makes its volume once a Pod mounts it"
	for name, c := range map[string]struct {
		claim, classes, unknown, consumer string
		state                             readiness.State
		message                           string
	}{
		"late":                 {"spec: {storageClassName: late}\nstatus: {phase: Pending}", "[" + lateClass + "]", "", "", readiness.Unconsumed, waits},
		"late, of several":     {"spec: {storageClassName: late}\nstatus: {phase: Pending}", "[" + earlyClass + "," + lateClass + "]", "", "", readiness.Unconsumed, waits},
		"late, and mounted":    {"spec: {storageClassName: late}\nstatus: {phase: Pending}", "[" + lateClass + "]", "", "Deployment web", readiness.Waiting, "waits for its first consumer: Deployment web mounts it, and its volume is made once a Pod is scheduled"},
		"early":                {"spec: {storageClassName: early}\nstatus: {phase: Pending}", "[" + earlyClass + "]", "", "", readiness.Waiting, "phase Pending"},
		"early, and mounted":   {"spec: {storageClassName: early}\nstatus: {phase: Pending}", "[" + earlyClass + "]", "", "Deployment web", readiness.Waiting, "phase Pending"},
		"class without mode":   {"spec: {storageClassName: silent}\nstatus: {phase: Pending}", "[" + silent + "]", "", "", readiness.Waiting, "phase Pending"},
		"no such class":        {"spec: {storageClassName: late}\nstatus: {phase: Pending}", "[" + earlyClass + "]", "", "", readiness.Waiting, "phase Pending: there is no StorageClass late"},
		"default":              {"status: {phase: Pending}", "[" + earlyClass + "," + newDefault + "]", "", "", readiness.Unconsumed, "waits for its first consumer: StorageClass new makes its volume once a Pod mounts it"},
		"newest default":       {"status: {phase: Pending}", "[" + oldDefault + "," + newDefault + "]", "", "", readiness.Unconsumed, "waits for its first consumer: StorageClass new makes its volume once a Pod mounts it"},
		"first of equally old": {"status: {phase: Pending}", "[" + twin + "," + newDefault + "]", "", "", readiness.Unconsumed, "waits for its first consumer: StorageClass new makes its volume once a Pod mounts it"},
		"no default":           {"status: {phase: Pending}", "[" + lateClass + "]", "", "", readiness.Waiting, "phase Pending: there is no default StorageClass"},
		"no class wanted":      {"spec: {storageClassName: ''}\nstatus: {phase: Pending}", "[" + newDefault + "]", "", "", readiness.Waiting, "phase Pending"},
		"a volume is chosen":   {"spec: {storageClassName: late, volumeName: v}\nstatus: {phase: Pending}", "[" + lateClass + "]", "", "", readiness.Waiting, "phase Pending"},
		"not known":            {"spec: {storageClassName: late}\nstatus: {phase: Pending}", "[]", "no right", "", readiness.Waiting, "phase Pending: its StorageClass cannot be read, so whether it waits for its first consumer is not known: no right"},
		"modified in vain":     {"spec: {storageClassName: early}\nstatus: {phase: Pending, conditions: [{type: ModifyVolumeError, status: 'True', message: denied}]}", "[" + earlyClass + "]", "", "", readiness.Waiting, "phase Pending: ModifyVolumeError: denied"},
		"bound":                {"spec: {storageClassName: late}\nstatus: {phase: Bound}", "[" + lateClass + "]", "", "Deployment web", readiness.Ready, ""},
		"lost":                 {"spec: {storageClassName: late}\nstatus: {phase: Lost}", "[" + lateClass + "]", "", "", readiness.Failed, "its volume is lost"},
		"without status":       {"spec: {storageClassName: late}", "[" + lateClass + "]", "", "", readiness.Waiting, "its controller has not reported a status yet"},
		"being deleted":        {"metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {phase: Pending}", "[" + newDefault + "]", "", "", readiness.Waiting, "being deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			obj := read(t, "apiVersion: v1\nkind: PersistentVolumeClaim\n"+c.claim)
			got, err := readiness.Of(obj, nil, false)
			if err != nil {
				t.Fatal(err)
			}
			class := readiness.SelectClass(readiness.ClassName(obj), objects(t, c.classes))
			class.Unknown = c.unknown
			got = got.WithClass(class).ConsumedBy(c.consumer)
			if want := (readiness.Verdict{State: c.state, Message: c.message}); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
			if ready := c.state == readiness.Unconsumed || c.state == readiness.Ready; got.IsReady() != ready || got.IsTemporary() {
				t.Errorf("%v: ready: %v, temporary: %v", got, got.IsReady(), got.IsTemporary())
			}
		})
	}
}

// objects reads a list of objects.
func objects(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	items, _ := read(t, "kind: List\nitems: "+text)["items"].([]any)
	for _, item := range items {
		all = append(all, item.(map[string]any))
	}
	return all
}

// TestConsumer: the consumer of a claim is a workload that runs Pods now which mount it.
func TestConsumer(t *testing.T) {
	const (
		volumes  = "volumes: [{name: tmp, emptyDir: {}}, {name: data, persistentVolumeClaim: {claimName: data-db-1}}]"
		template = "template: {spec: {" + volumes + "}}"
		named    = "metadata: {name: db, namespace: n}"
		apps     = "apiVersion: apps/v1, " + named + ", kind: "
	)
	for name, c := range map[string]struct {
		workload string
		want     bool
	}{
		"Deployment":                      {apps + "Deployment, spec: {" + template + "}", true},
		"Deployment, of another claim":    {apps + "Deployment, spec: {template: {spec: {volumes: [{persistentVolumeClaim: {claimName: x}}]}}}", false},
		"Deployment, elsewhere":           {"apiVersion: apps/v1, kind: Deployment, metadata: {name: db, namespace: m}, spec: {" + template + "}", false},
		"Deployment, without volumes":     {apps + "Deployment, spec: {replicas: 1}", false},
		"Deployment, scaled to 0":         {apps + "Deployment, spec: {replicas: 0, " + template + "}", false},
		"Deployment, paused":              {apps + "Deployment, spec: {replicas: 1, paused: true, " + template + "}", true},
		"StatefulSet":                     {apps + "StatefulSet, spec: {replicas: 2, " + template + "}", true},
		"StatefulSet, by template":        {apps + "StatefulSet, spec: {replicas: 2, volumeClaimTemplates: [{metadata: {name: data}}]}", true},
		"StatefulSet, with fewer Pods":    {apps + "StatefulSet, spec: {replicas: 1, volumeClaimTemplates: [{metadata: {name: data}}]}", false},
		"StatefulSet, with a later start": {apps + "StatefulSet, spec: {replicas: 1, ordinals: {start: 1}, volumeClaimTemplates: [{metadata: {name: data}}]}", true},
		"StatefulSet, of another claim":   {apps + "StatefulSet, spec: {replicas: 2, volumeClaimTemplates: [{metadata: {name: logs}}]}", false},
		"ReplicaSet":                      {apps + "ReplicaSet, spec: {replicas: 1, " + template + "}", true},
		"DaemonSet":                       {apps + "DaemonSet, spec: {" + template + "}, status: {desiredNumberScheduled: 1}", true},
		"DaemonSet, not observed":         {"apiVersion: apps/v1, kind: DaemonSet, metadata: {name: db, namespace: n, generation: 2}, spec: {" + template + "}", true},
		"DaemonSet, on no node":           {apps + "DaemonSet, spec: {" + template + "}, status: {desiredNumberScheduled: 0}", false},
		"ReplicationController":           {"apiVersion: v1, kind: ReplicationController, " + named + ", spec: {" + template + "}", true},
		"Pod":                             {"apiVersion: v1, kind: Pod, " + named + ", spec: {" + volumes + "}", true},
		"Pod, finished":                   {"apiVersion: v1, kind: Pod, " + named + ", spec: {" + volumes + "}, status: {phase: Succeeded}", false},
		"Job":                             {"apiVersion: batch/v1, kind: Job, " + named + ", spec: {" + template + "}", true},
		"Job, suspended":                  {"apiVersion: batch/v1, kind: Job, " + named + ", spec: {suspend: true, " + template + "}", false},
		"Job, complete":                   {"apiVersion: batch/v1, kind: Job, " + named + ", spec: {" + template + "}, status: {conditions: [{type: Complete, status: 'True'}]}", false},
		"Job, failed":                     {"apiVersion: batch/v1, kind: Job, " + named + ", spec: {" + template + "}, status: {conditions: [{type: Failed, status: 'True'}]}", false},
		"CronJob":                         {"apiVersion: batch/v1, kind: CronJob, " + named + ", spec: {jobTemplate: {spec: {" + template + "}}}", false},
		"of another project":              {"apiVersion: argoproj.io/v1alpha1, kind: Rollout, " + named + ", spec: {replicas: 2, " + template + "}", true},
		"of no Pods":                      {"apiVersion: v1, kind: ConfigMap, " + named, false},
	} {
		t.Run(name, func(t *testing.T) {
			claim := read(t, "kind: PersistentVolumeClaim\nmetadata: {name: data-db-1, namespace: n}")
			w := objects(t, "[{"+c.workload+"}]")[0]
			if mounts, runs := readiness.Mounts(w, claim), readiness.RunsPods(w); (mounts && runs) != c.want {
				t.Errorf("it mounts the claim: %v, and runs Pods: %v, want %v", mounts, runs, c.want)
			}
		})
	}
}
