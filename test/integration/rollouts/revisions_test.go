package rollouts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// said is a folder whose ConfigMap says what the resource says, and which version. With
// nowhere it has a Deployment, too, that never becomes ready.
func said(version string, nowhere bool) map[string]string {
	files, deadline := config(version+"-{{ .spec.text }}"), "10m" // a busy machine is no stop
	if nowhere {
		files["deployment.yaml"], deadline = deployment(true)["deployment.yaml"], "5s"
	}
	files["kind.yaml"] = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nrollout: {waves: [\"5\"], progressDeadline: " + deadline + "}\n"
	return files
}

// at runs an operator that has a namespace of its own, and keeps revisions there.
func (k *thing) at(t *testing.T, home string) *kit.Operator {
	t.Helper()
	op := cluster.Run(t, func(o *controller.Options) { o.InstallCRDs, o.Namespace, o.Identity = true, home, home+"/jacquard" }, k.root)
	cluster.Served(t, k.apiVersion(), "Thing")
	return op
}

// jacquard runs a command about the kind as a person does, and returns what it says.
func (k *thing) jacquard(t *testing.T, command string, args ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	args = append([]string{command, "--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig")}, args...)
	if code := cli.Main(args, strings.NewReader(""), &out, &trouble); code == 2 || code > 3 { // 3: it is not known yet
		t.Fatalf("jacquard %s exits with %d: %s", strings.Join(args, " "), code, trouble.String())
	}
	return out.String() + trouble.String()
}

// saysThat fails unless a text has all these parts.
func saysThat(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

// TestServedByRevision: a rollout stops at 5 of 40 resources. The operator that comes
// next serves the others by the revision before: drift, edits, new resources and those
// that go. A rollback brings the 5 back, and after its release an approval goes on.
func TestServedByRevision(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "revisions", said("one", false)), cluster.Namespace(t)
	op := k.at(t, home)
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("r%02d", i))
		k.apply(t, names[i], "hello")
	}
	k.ready(t, names...)
	k.write(t, said("two", true))
	if r := k.rollout(t, rollout.Stopped, rollout.NotReady); r.Moved != 5 {
		t.Errorf("the record is %s", r)
	}
	k.say(t, map[string]int{"two-hello": 5, "one-hello": 35})
	op.Stop(t)

	// While no operator runs:
	for _, name := range []string{"r01", "r20"} {
		o, err := cluster.Get("v1", "ConfigMap", k.ns, name)
		if err == nil {
			err = cluster.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, []byte(`{"data":{"text":"drifted"}}`)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cluster.Delete(t, "v1", "ConfigMap", k.ns, "r21")
	k.apply(t, "r02", "edited")
	k.apply(t, "r22", "edited")
	k.apply(t, "made", "hello")
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "r23")

	mark := cluster.Mark(t)
	op = k.at(t, home)
	k.say(t, map[string]int{"two-hello": 4, "two-edited": 1, "one-hello": 34, "one-edited": 1})
	if r := k.rollout(t, rollout.Stopped, rollout.NotReady); r.Moved != 5 {
		t.Errorf("the record is %s", r)
	}
	k.ready(t, "r20", "r21", "r22", "made", "r39")
	k.apply(t, "r30", "edited")
	k.apply(t, "later", "hello")
	k.say(t, map[string]int{"two-hello": 4, "two-edited": 1, "one-hello": 34, "one-edited": 2})
	for _, r := range kit.Writes(op.Requests(t, mark)) {
		touched := []string{"r01", "r02", "r20", "r21", "r22", "made", "later", "r30"}
		// The controllers go on with the Deployments of the five, which their statuses tell.
		five := r.Resource == "things/status" && r.Name < "r05"
		if r.Namespace == k.ns && !slices.Contains(touched, r.Name) && r.Name != "r23" && !five {
			t.Errorf("the operator sent %s", r)
		}
	}
	saysThat(t, k.jacquard(t, "history", k.name()), "is rolled out: Stopped", "serves what the rollout has not reached")
	before := strings.Fields(strings.Split(k.jacquard(t, "history", k.name()), "\n")[2])
	saysThat(t, k.jacquard(t, "tree", k.name()+"/"+k.ns+"/r20"), "served by revision "+before[1])
	saysThat(t, k.jacquard(t, "diff", k.name()+"/"+k.ns+"/r20", "--revision", before[0], "-v"), "ConfigMap "+k.ns+"/r20")

	saysThat(t, k.jacquard(t, "rollback", k.name(), "--yes", "--wait=5m"), "goes back to revision "+before[0], "RolledBack: every resource")
	k.say(t, map[string]int{"one-hello": 38, "one-edited": 3})
	k.rollout(t, rollout.Complete, "")
	saysThat(t, k.jacquard(t, "history", k.name()), "serves all resources; rolled back to", "rolled back from")
	kit.Eventually(t, "status tells of the rollback", func() error { // the report comes after the record
		if said := k.jacquard(t, "status", k.name(), "--wait=5m"); !strings.Contains(said, "RolledBack") {
			return errors.New(said)
		}
		return nil
	})
	op.Stop(t)

	k.at(t, home) // the rollback holds
	k.apply(t, "last", "hello")
	k.say(t, map[string]int{"one-hello": 39, "one-edited": 3})
	k.jacquard(t, "rollback", k.name(), "--end", "--yes")
	k.rollout(t, rollout.Stopped, rollout.NotReady)
	k.approve(t, "--all-waves")
	k.say(t, map[string]int{"two-hello": 39, "two-edited": 3})
	k.rollout(t, rollout.Complete, "")
}

// TestRevisionsAreStoredAgain: a revision that somebody deletes is stored again while the operator
// runs, and a rollout does not begin before its revision is stored.
func TestRevisionsAreStoredAgain(t *testing.T) {
	t.Parallel()
	folder := func(version string) map[string]string {
		files := said(version, false)
		files["kind.yaml"] += "resyncInterval: 5s\n"
		return files
	}
	k, home := newThing(t, "kept", folder("one")), cluster.Namespace(t)
	k.at(t, home)
	k.many(t, 2)
	k.say(t, map[string]int{"one-hello": 2})
	stored := func() (list appsv1.ControllerRevisionList) {
		if err := cluster.Client.List(t.Context(), &list, client.InNamespace(home)); err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := stored()
	if len(before.Items) != 1 {
		t.Fatalf("there are %d revisions", len(before.Items))
	}
	if err := cluster.Client.Delete(t.Context(), &before.Items[0]); err != nil {
		t.Fatal(err)
	}
	kit.Eventually(t, "it is stored again", func() error {
		if now := stored(); len(now.Items) != 1 || !bytes.Equal(now.Items[0].Data.Raw, before.Items[0].Data.Raw) {
			return fmt.Errorf("there are %d revisions", len(now.Items))
		}
		return nil
	})

	cluster.Apply(t, home, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: full}, spec: {hard: {count/controllerrevisions.apps: 1}}}")
	kit.Eventually(t, "the quota counts", func() error {
		quota, err := cluster.Get("v1", "ResourceQuota", home, "full")
		if err == nil && quota.Object["status"] == nil {
			err = errors.New("it has no status")
		}
		return err
	})
	k.write(t, folder("two"))
	kit.Eventually(t, "status tells that the revision cannot be stored", func() error {
		if said := k.jacquard(t, "status"); !strings.Contains(said, "has no room for more") {
			return errors.New(said)
		}
		return nil
	})
	k.say(t, map[string]int{"one-hello": 2})
	if r := rollout.ParseRecord(k.crd(t).GetAnnotations()[api.AnnotationRollout]); len(r.Revisions) != 1 {
		t.Errorf("the rollout has begun: %s", r)
	}
	cluster.Delete(t, "v1", "ResourceQuota", home, "full")
	k.say(t, map[string]int{"two-hello": 2})

	k.write(t, folder("one")) // which serves again, and so has the greatest number
	k.say(t, map[string]int{"one-hello": 2})
	kit.Eventually(t, "the folder that is back has the greatest number", func() error {
		numbers := map[string]int64{}
		for _, r := range stored().Items {
			numbers[string(r.Data.Raw)] = r.Revision
		}
		if len(numbers) != 2 || numbers[string(before.Items[0].Data.Raw)] != 3 {
			return fmt.Errorf("the numbers are %v", slices.Collect(maps.Values(numbers)))
		}
		return nil
	})
}

// TestRevisionRefused: a revision that somebody changed serves nothing, nor does one
// that does not fit a CRD that changed; what it had served is held, and says why.
func TestRevisionRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	k, home := newThing(t, "tampered", said("one", false)), cluster.Namespace(t)
	op := k.at(t, home)
	k.many(t, 8)
	k.write(t, said("two", true))
	k.rollout(t, rollout.Stopped, rollout.NotReady)
	op.Stop(t)

	var list appsv1.ControllerRevisionList
	if err := cluster.Client.List(ctx, &list, client.InNamespace(home)); err != nil || len(list.Items) != 2 {
		t.Fatalf("%d revisions, %v", len(list.Items), err)
	}
	one, two := &list.Items[0], &list.Items[1]
	if one.Revision == 2 {
		one, two = two, one
	}
	fake := one.DeepCopy()
	fake.ResourceVersion, fake.UID, fake.Data = "", "", two.Data
	if err := errors.Join(cluster.Client.Delete(ctx, one), cluster.Client.Create(ctx, fake)); err != nil {
		t.Fatal(err)
	}
	op = k.at(t, home)
	k.apply(t, "r07", "edited")
	k.says(t, "r07", "Ready", "False", "is refused")
	k.say(t, map[string]int{"two-hello": 5, "one-hello": 3})
	op.Stop(t)

	// Nor does the folder serve, where the revision of a rollback is lost.
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"jacquard.dev/rollback":"0123456789abcdef %s"}}}`, two.Labels[api.LabelRevision])
	if err := cluster.Client.Patch(ctx, k.crd(t), client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
	k.at(t, home)
	kit.Eventually(t, "status tells that the rollback failed", func() error {
		if said := k.jacquard(t, "status"); !strings.Contains(said, "rolled back, and revision 0123456789abcdef of its folder is not kept") {
			return errors.New(said)
		}
		return nil
	})
	k.says(t, "r07", "Ready", "False", "is refused")
	k.say(t, map[string]int{"two-hello": 5, "one-hello": 3})
	k.jacquard(t, "rollback", k.name(), "--end", "--yes")
	k.rollout(t, rollout.Stopped, rollout.NotReady)
	k.approve(t, "--all-waves")
	k.say(t, map[string]int{"two-hello": 7, "two-edited": 1})
}

// TestRollbackAmongFolders: a rollback to a revision that is not there stops the rollout. One
// to a revision that is there takes it back, and holds when an operator that still has the
// folder of the revision leads before one that has the other.
func TestRollbackAmongFolders(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "among", said("one", false)), cluster.Namespace(t)
	op := k.at(t, home)
	k.many(t, 8)
	two := said("two", false)
	two["kind.yaml"] = strings.Replace(two["kind.yaml"], `{waves: ["5"], progressDeadline: 10m}`, `{waves: ["1"], minReadySeconds: 600, progressDeadline: 1h}`, 1)
	k.write(t, two)
	k.say(t, map[string]int{"two-hello": 1, "one-hello": 7})
	rolling := k.rollout(t, rollout.Running, "")
	served := rolling.Base().Digest
	rollBack := func(to string) {
		t.Helper()
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"jacquard.dev/rollback":"%s %s"}}}`, to, rolling.Target().Digest)
		if err := cluster.Client.Patch(context.Background(), k.crd(t), client.RawPatch(types.MergePatchType, patch)); err != nil {
			t.Fatal(err)
		}
	}
	rollBack("0123456789abcdef")
	saysThat(t, k.rollout(t, rollout.Stopped, rollout.RollbackFailed).Message, "revision 0123456789abcdef of its folder is not kept", "--end")
	k.apply(t, "r07", "edited")
	k.say(t, map[string]int{"two-hello": 1, "one-hello": 6, "one-edited": 1})
	saysThat(t, k.jacquard(t, "approve", k.name()), "is not kept")
	rollBack(served)
	k.say(t, map[string]int{"one-hello": 7, "one-edited": 1})
	k.rollout(t, rollout.Complete, "")
	op.Stop(t)

	k.write(t, said("one", false))
	op = k.at(t, home)
	k.apply(t, "made", "hello")
	k.ready(t, "made")
	op.Stop(t)
	k.write(t, two)
	k.at(t, home)
	k.apply(t, "last", "hello")
	k.ready(t, "last")
	k.say(t, map[string]int{"one-hello": 9, "one-edited": 1})
	if k.crd(t).GetAnnotations()["jacquard.dev/rollback"] == "" {
		t.Error("the folder of the revision has ended the rollback")
	}
}

// TestRevisionUnfit: a CRD that changes while a rollout is stopped, so that the revision
// before does not fit it any more.
func TestRevisionUnfit(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "unfit", said("one", false)), cluster.Namespace(t)
	k.at(t, home)
	k.many(t, 8)
	two := said("two", true)
	two["map.yaml"] = config("two")["map.yaml"]
	k.write(t, two)
	k.rollout(t, rollout.Stopped, rollout.NotReady)
	without := strings.Replace(kit.ThingCRD(k.group), "text: {type: string, default: hello}", "other: {type: string}", 1)
	narrow := kit.Parse(t, without)[0]
	versions, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": narrow.Object["spec"].(map[string]any)["versions"]}})
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Patch(context.Background(), k.crd(t), client.RawPatch(types.MergePatchType, versions)); err != nil {
		t.Fatal(err)
	}
	edits := 0
	kit.Eventually(t, "an edited resource says why it is held", func() error {
		o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, "r07")
		if err != nil {
			return err
		}
		if kit.IsCondition(o, "Ready", "True", "") == nil { // it was served before the CRD was seen
			edits++
			patch := fmt.Appendf(nil, `{"spec":{"other":"edit %d"}}`, edits)
			return errors.Join(cluster.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, patch)), errors.New("edited"))
		}
		return kit.IsCondition(o, "Ready", "False", "does not fit the CRD")
	})
	k.say(t, map[string]int{"two": 5, "one-hello": 3})
}
