package crash

import (
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// values are all passwords that each Secret of a namespace ever had, by name,
// whichever object had the name.
type values struct {
	mu  sync.Mutex
	all map[string]map[string]bool
	// made are the objects of each name.
	made map[string]map[types.UID]bool
}

// record watches the Secrets of a namespace from now on.
func record(t *testing.T, namespace string) *values {
	t.Helper()
	c, err := client.NewWithWatch(cluster.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(ctx, &corev1.SecretList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	v := &values{all: map[string]map[string]bool{}, made: map[string]map[types.UID]bool{}}
	go func() {
		for e := range w.ResultChan() {
			if o, ok := e.Object.(*corev1.Secret); ok {
				v.take(o)
			}
		}
	}()
	return v
}

func (v *values) take(o *corev1.Secret) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all[o.Name] == nil {
		v.all[o.Name], v.made[o.Name] = map[string]bool{}, map[types.UID]bool{}
	}
	v.all[o.Name][string(o.Data["password"])] = true
	v.made[o.Name][o.UID] = true
}

// once fails unless each of so many Secrets was made once and had one password.
func (v *values) once(t *testing.T, secrets int) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.all) != secrets {
		t.Errorf("there were %d Secrets, want %d", len(v.all), secrets)
	}
	for name, passwords := range v.all {
		if len(passwords) != 1 || passwords[""] || len(v.made[name]) != 1 {
			t.Errorf("Secret %s was made %d times and had %d passwords, want one", name, len(v.made[name]), len(passwords))
		}
	}
}
