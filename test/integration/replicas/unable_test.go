package replicas

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestFollowerWithoutRevision: a replica that has another folder, and cannot read the revision that
// serves all resources, leaves them to the leader. The leader stores the revision again, and then
// the replica serves its share.
func TestFollowerWithoutRevision(t *testing.T) {
	t.Parallel()
	const group, n = "unable.example.com", 12
	name := "things." + group
	child := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}', version: %s}\n"
	files := func(version string) map[string]string {
		return map[string]string{"crds/" + name + ".yaml": kit.ThingCRD(group), "templates/" + name + "/one.yaml": fmt.Sprintf(child, version)}
	}
	f := newFleet(t, cluster, files("one"))
	cluster.Apply(t, "", kit.ThingCRD(group))
	cluster.Served(t, group+"/v1", "Thing")
	var spaces []string
	for range n {
		spaces = append(spaces, cluster.Namespace(t))
	}
	edit := func(text string) {
		for i, space := range spaces {
			cluster.Apply(t, space, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%02d}, spec: {text: %q}}", group, i, text))
		}
	}
	edit("first")
	f.start()
	f.awaitDivided(1)
	f.allReady(group+"/v1", "Thing", n)

	if err := cluster.Client.DeleteAllOf(t.Context(), &appsv1.ControllerRevision{}, client.InNamespace(f.home)); err != nil {
		t.Fatal(err)
	}
	f.root = t.TempDir()
	kit.Write(t, f.root, files("two"))
	second := f.start()
	f.awaitDivided(2)
	kit.Eventually(t, "the replica says what it lacks", func() error {
		if !strings.Contains(second.log.String(), "the folder that serves all resources is not here") {
			return errors.New("it says nothing of it")
		}
		return nil
	})
	edit("second")
	awaitText := func(text string) {
		kit.Eventually(t, "all resources are served by the leader's folder", func() error {
			for i, space := range spaces {
				if err := f.says(space, i, text, "one"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	awaitText("second")
	kit.Eventually(t, "the revision is stored again", func() error {
		var list appsv1.ControllerRevisionList
		if err := cluster.Client.List(t.Context(), &list, client.InNamespace(f.home)); err != nil || len(list.Items) != 1 {
			return fmt.Errorf("there are %d revisions, %w", len(list.Items), err)
		}
		return nil
	})
	kit.Eventually(t, "the kind is divided again", func() error {
		d, err := f.division()
		if err == nil && len(d.Exclusive) > 0 {
			err = fmt.Errorf("the leader alone serves %v", d.Exclusive)
		}
		return err
	})
	edit("third")
	awaitText("third")
}
