package operators

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// history is what children there ever were in a namespace: ConfigMaps and
// Secrets.
type history struct {
	namespace string
	mu        sync.Mutex
	// marks are the objects of no operator's that were seen, by name.
	marks map[string]bool
	// made are the objects that had a name; passwords those of each Secret,
	// whichever object had the name.
	made      map[string]map[types.UID]bool
	passwords map[string]map[string]bool
}

// record watches a namespace from now on.
func record(t *testing.T, namespace string) *history {
	t.Helper()
	c, err := client.NewWithWatch(cluster.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &history{namespace: namespace, marks: map[string]bool{}, made: map[string]map[types.UID]bool{},
		passwords: map[string]map[string]bool{}}
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.ConfigMapList{}} {
		w, err := c.Watch(ctx, list, client.InNamespace(namespace))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		go func() {
			for e := range w.ResultChan() {
				h.take(e)
			}
		}()
	}
	return h
}

func (h *history) take(e watch.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o, ok := e.Object.(client.Object)
	if !ok {
		return
	}
	name := o.GetName()
	if o.GetLabels()[api.LabelOwnerUID] == "" {
		h.marks[name] = true
		return
	}
	if h.made[name] == nil {
		h.made[name] = map[types.UID]bool{}
	}
	h.made[name][o.GetUID()] = true
	if s, ok := o.(*corev1.Secret); ok {
		if h.passwords[name] == nil {
			h.passwords[name] = map[string]bool{}
		}
		h.passwords[name][string(s.Data["password"])] = true
	}
}

// upToDate waits until the watches have told of what there was until now: of an
// object of no operator's that is made in each.
func (h *history) upToDate(t *testing.T) {
	t.Helper()
	mark := metav1.ObjectMeta{Namespace: h.namespace, GenerateName: "mark-"}
	for _, o := range []client.Object{&corev1.Secret{ObjectMeta: mark}, &corev1.ConfigMap{ObjectMeta: mark}} {
		if err := cluster.Client.Create(ctx, o); err != nil {
			t.Fatal(err)
		}
		kit.Eventually(t, "the watch is up to date", func() error {
			h.mu.Lock()
			defer h.mu.Unlock()
			if !h.marks[o.GetName()] {
				return fmt.Errorf("%s was not seen", o.GetName())
			}
			return nil
		})
		if err := cluster.Client.Delete(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
}

// are fails unless of each name so many objects were made.
func (h *history) are(t *testing.T, want map[string]int) {
	t.Helper()
	h.upToDate(t)
	h.mu.Lock()
	defer h.mu.Unlock()
	got := map[string]int{}
	for name, uids := range h.made {
		got[name] = len(uids)
	}
	if !maps.Equal(got, want) {
		t.Errorf("objects were made so often: %v, want %v", got, want)
	}
}

// once fails unless each of so many Secrets was made once and had one password.
func (h *history) once(t *testing.T, secrets int) {
	t.Helper()
	h.upToDate(t)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.passwords) != secrets {
		t.Errorf("there were %d Secrets, want %d", len(h.passwords), secrets)
	}
	for name, all := range h.passwords {
		if len(all) != 1 || all[""] || len(h.made[name]) != 1 {
			t.Errorf("Secret %s was made %d times and had %d passwords, want one", name, len(h.made[name]), len(all))
		}
	}
}
