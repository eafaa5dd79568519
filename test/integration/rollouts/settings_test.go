package rollouts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// settingsMap is a folder in a ConfigMap whose children say which version of it made them,
// and in which mode. settings is the text of its annotation with settings; "" for none.
func (k *thing) settingsMap(version, settings string) string {
	files := config(version + " {{ config \"mode\" }}")
	files["config.yaml"], files["kind.yaml"] = "mode: default\n", patient
	text := k.configMap("folder", "", files)
	if settings == "" {
		return text
	}
	return strings.Replace(text, "\ndata:\n", fmt.Sprintf("\n  annotations: {jacquard.dev/config: %q}\ndata:\n", settings), 1)
}

// followTexts watches the kind's ConfigMaps. What it returns lists the values of data.text that
// were written since, each once, at least until the ConfigMap of this name was.
func (k *thing) followTexts(t *testing.T) func(until string) []string {
	t.Helper()
	var now corev1.ConfigMapList
	if err := cluster.Client.List(t.Context(), &now, client.InNamespace(k.ns)); err != nil {
		t.Fatal(err)
	}
	changes, err := cluster.Client.Watch(context.Background(), &corev1.ConfigMapList{}, client.InNamespace(k.ns),
		client.HasLabels{"jacquard.dev/owner-uid"}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: now.ResourceVersion}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(changes.Stop)
	return func(until string) []string {
		t.Helper()
		var texts []string
		isSeen := false
		kit.Eventually(t, "a watch brings the ConfigMap "+until, func() error {
			for {
				select {
				case e := <-changes.ResultChan():
					m, isMap := e.Object.(*corev1.ConfigMap)
					if !isMap || e.Type == watch.Deleted {
						return fmt.Errorf("it brings %s %v", e.Type, e.Object)
					}
					if isSeen = isSeen || m.Name == until; !slices.Contains(texts, m.Data["text"]) {
						texts = append(texts, m.Data["text"])
					}
				default:
					if !isSeen {
						return fmt.Errorf("it brought %q", texts)
					}
					return nil
				}
			}
		})
		return texts
	}
}

// TestSettingsChangeWithFolder: a ConfigMap changes the folder and its settings at once. That
// is one rollout, and no child is ever written by the one without the other, also not after a
// restart. Settings that the folder does not have leave the last good version serving, and a
// rollback brings back the settings of its revision.
func TestSettingsChangeWithFolder(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "settingschange", nil), cluster.Namespace(t)
	op := k.at(t, home)
	cluster.Apply(t, home, k.settingsMap("one", `{"mode": "old"}`))
	k.many(t, 4)
	k.allSay(t, "one old", 4)
	before, written := k.rollout(t, rollout.Complete, "").Target(), k.followTexts(t)

	cluster.Apply(t, home, k.settingsMap("two", `{"mode": "new"}`))
	k.allSay(t, "two new", 4)
	after := k.rollout(t, rollout.Complete, "").Target()
	if after.Number != before.Number+1 {
		t.Errorf("the revision was number %d, and is number %d", before.Number, after.Number)
	}
	op.Stop(t)
	op = k.at(t, home)
	k.apply(t, "later", "hello")
	k.allSay(t, "two new", 5)
	op.AwaitQuiet(t)
	if texts := written("later"); !slices.Equal(texts, []string{"two new"}) {
		t.Errorf("children were written with %q", texts)
	}
	if now := k.rollout(t, rollout.Complete, "").Target(); now != after {
		t.Errorf("a restart made %+v of the revision %+v", now, after)
	}

	cluster.Apply(t, home, k.settingsMap("three", `{"moed": "new"}`))
	k.told(t, "FolderInvalid", "configmap "+home+"/folder annotation jacquard.dev/config:1:2: "+k.name()+" has no setting moed; did you mean mode?")
	k.apply(t, "last", "hello")
	k.allSay(t, "two new", 6)
	cluster.Apply(t, home, k.settingsMap("two", `{"mode": "new"}`))
	saysThat(t, k.jacquard(t, "status", k.name(), "--installation", home+"/jacquard", "--wait=5m"), k.name(), "Serving")
	saysThat(t, k.jacquard(t, "rollback", k.name(), "--yes", "--wait=5m"), fmt.Sprintf("goes back to revision %d (%s)", before.Number, before.Digest))
	k.allSay(t, "one old", 6)
}

// TestSettingsMoveIntoFolder: settings that --config had until now move into the ConfigMap of
// the folder, as an upgrade of the chart does it. That begins no rollout, neither while the
// operator has them in both places nor once it has them in the ConfigMap alone.
func TestSettingsMoveIntoFolder(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "settingsmove", nil), cluster.Namespace(t)
	run := func(settings string) *kit.Operator {
		t.Helper()
		c, err := kind.ReadConfig("settings", []byte(settings))
		if err != nil {
			t.Fatal(err)
		}
		op := cluster.Run(t, func(o *controller.Options) {
			o.InstallCRDs, o.Namespace, o.Identity, o.Settings = true, home, home+"/jacquard", c
		}, k.root)
		cluster.Served(t, k.apiVersion(), "Thing")
		return op
	}
	cluster.Apply(t, home, k.settingsMap("one", ""))
	op := run(k.name() + ": {mode: special}")
	k.many(t, 3)
	k.allSay(t, "one special", 3)
	before, written := k.rollout(t, rollout.Complete, ""), k.followTexts(t)

	cluster.Apply(t, home, k.settingsMap("one", "mode: special\n"))
	k.jacquard(t, "status", k.name(), "--installation", home+"/jacquard", "--wait=5m")
	op.Stop(t)
	op = run("")
	kit.Eventually(t, "the operator is ready", op.Ready)
	k.apply(t, "later", "hello")
	k.allSay(t, "one special", 4)
	op.AwaitQuiet(t)
	if now := k.rollout(t, rollout.Complete, ""); now.Target() != before.Target() || !now.Began.Equal(before.Began) {
		t.Errorf("the rollout was %s, and is %s", before, now)
	}
	if texts := written("later"); !slices.Equal(texts, []string{"one special"}) {
		t.Errorf("children were written with %q", texts)
	}

	op.Stop(t) // where both have settings, those of the ConfigMap count
	op = run(k.name() + ": {mode: other}")
	kit.Eventually(t, "the operator is ready", op.Ready)
	k.apply(t, "last", "hello")
	k.allSay(t, "one special", 5)
}
