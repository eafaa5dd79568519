package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestMessagesOfReadyChildren: that the health of a ready child is not known, or that a
// claim waits for its first consumer, is shown by the status, tree, explain and the page.
// Who may not read StorageClasses sees of the claim what the status says.
func TestMessagesOfReadyChildren(t *testing.T) {
	s := build(t, nil)
	foreign := "foreign." + s.group
	cluster.Apply(t, "", kit.ThingCRD(foreign))
	cluster.Served(t, foreign+"/v1", "Thing")
	class := "late-" + s.namespace
	cluster.Apply(t, "", "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: "+class+"}\n"+
		"provisioner: example.com/none\nvolumeBindingMode: WaitForFirstConsumer\n")
	t.Cleanup(func() { cluster.Delete(t, "storage.k8s.io/v1", "StorageClass", "", class) })
	kit.Write(t, s.root, map[string]string{"schemas/things.yaml": kit.ThingCRD(foreign)})
	s.write(s.root, map[string]string{
		"claim.yaml": "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: data\n  annotations: {jacquard.dev/on-delete: delete}\n" +
			"spec: {accessModes: [ReadWriteOnce], storageClassName: " + class + ", resources: {requests: {storage: 1Gi}}}\n",
		"thing.yaml": "apiVersion: " + foreign + "/v1\nkind: Thing\nmetadata: {name: thing}\nspec: {text: one}\n",
	})
	s.apply(s.web(spec))
	s.start()
	kit.Eventually(t, "the Thing is made, and has conditions", func() error {
		thing, err := cluster.Get(foreign+"/v1", "Thing", s.namespace, "thing")
		if err != nil {
			return err
		}
		return cluster.Client.Status().Patch(context.Background(), thing, client.RawPatch(types.MergePatchType,
			[]byte(`{"status":{"conditions":[{"type":"Accepted","status":"True"}]}}`)))
	})
	s.ready("a")
	const unknown, waits = "health not known: it reports Accepted=True", "waits for its first consumer: StorageClass late-"
	for what, text := range map[string]func() string{
		"tree":    func() string { return s.as(looker, "tree", "webs."+s.group+"/a").stdout },
		"explain": func() string { return s.as(looker, "explain", "--root", s.root, "webs."+s.group+"/a").stdout },
		"page": func() string {
			code, text := browse(t).ask("GET", "/api/resources/webs."+s.group+"/"+s.namespace+"/a/tree", "")
			if code != http.StatusOK {
				return http.StatusText(code)
			}
			return text
		},
		"status": func() string {
			web, err := cluster.Get(s.apiVersion(), "Web", s.namespace, "a")
			if err != nil {
				return err.Error()
			}
			message, _ := status.Condition(web.Object, "Ready")["message"].(string)
			if message != "2 children are ready; of 1 the health is not known; of 1 the volume waits for a first consumer" {
				t.Errorf("Ready: %s", message)
			}
			return fmt.Sprint(web.Object["status"])
		},
	} {
		kit.Eventually(t, what+" shows both messages", func() error {
			if got := text(); !strings.Contains(got, unknown) || !strings.Contains(got, waits) {
				return errors.New(got)
			}
			return nil
		})
	}
	s.bind(viewer, "view")
	if a := s.as(viewer, "tree", "webs."+s.group+"/"+s.namespace+"/a"); !strings.Contains(a.stdout, "✓ PersistentVolumeClaim data") ||
		!strings.Contains(a.stdout, waits) {
		t.Errorf("to the viewer it does not show the claim as ready:\n%s", a.all())
	}
}
