package crash

import (
	"maps"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// history is what children there ever were in a namespace: ConfigMaps and
// Secrets.
type history struct {
	mu sync.Mutex
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
	h := &history{made: map[string]map[types.UID]bool{}, passwords: map[string]map[string]bool{}}
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.ConfigMapList{}} {
		w, err := c.Watch(ctx, list, client.InNamespace(namespace), client.HasLabels{api.LabelOwnerUID})
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

// are fails unless of each name so many objects were made.
func (h *history) are(t *testing.T, want map[string]int) {
	t.Helper()
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
