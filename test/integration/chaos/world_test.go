package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A world is the kinds, their resources, and the operator that serves them, of
// which there is one at a time, most of the time.
type world struct {
	t         *testing.T
	admin     client.Client
	dir       string // the operator's root
	config    *rest.Config
	model     *model
	resources []*resource
	namespace string
	sky       *sky
	patience  time.Duration // for the cluster to get into order

	mu      sync.Mutex
	wire    *wire
	killed  int
	running sync.WaitGroup
}

// newWorld makes the kinds, somebody's objects, and the operator's rights.
func newWorld(t *testing.T, seed uint64, count int) *world {
	t.Helper()
	w := &world{t: t, admin: cluster.Client, dir: t.TempDir(), model: newModel(), namespace: cluster.Namespace(t)}
	w.sky = &sky{dice: rand.New(rand.NewPCG(seed, 1))}
	w.sky.now.Store(&weather{})
	files := map[string]string{}
	for kind, f := range folders {
		cluster.Apply(t, "", crdOf(kind))
		for name, text := range f {
			files["templates/"+kind+"s."+group+"/"+name] = text
		}
	}
	kit.Write(t, w.dir, files)
	for _, kind := range kindNames {
		cluster.Served(t, group+"/v1", titleOf(kind))
	}
	cluster.Grant(t, kit.User, controller.Options{Identity: "chaos"}, w.dir)
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(cluster.Dir, "operator.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS, cfg.Burst = -1, 0
	w.config = cfg
	for i := range count {
		r := &resource{kind: kindNames[i%len(kindNames)], namespace: w.namespace, name: fmt.Sprintf("r%03d", i)}
		w.resources = append(w.resources, r)
		if r.kind == "graft" {
			w.theirs(r)
		}
	}
	return w
}

// theirs makes the object that a graft patches.
func (w *world) theirs(r *resource) {
	o := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: r.name + "-theirs", Labels: map[string]string{"a": "b"}},
		Data:       map[string]string{"theirs": "x"},
	}
	if err := w.admin.Create(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

// serve keeps an operator running until the context ends: one that ends or is
// killed is followed by another.
func (w *world) serve(ctx context.Context) {
	defer w.running.Done()
	for ctx.Err() == nil {
		life := &wire{sky: w.sky}
		life.alive, life.kill = context.WithCancel(ctx)
		w.mu.Lock()
		w.wire = life
		w.mu.Unlock()
		err := w.operate(life)
		if life.alive.Err() == nil {
			w.t.Logf("an operator ended by itself: %v", err)
		}
		life.kill()
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// operate is one operator's life. One that is killed is not waited for.
func (w *world) operate(life *wire) error {
	cfg := rest.CopyConfig(w.config)
	cfg.Wrap(life.through)
	op, err := controller.New(controller.Options{Config: cfg, Roots: []*folder.Root{folder.FromDir(w.dir)}, Identity: "chaos"})
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	w.running.Go(func() { done <- op.Run(life.alive) })
	select {
	case err := <-done:
		return err
	case <-life.alive.Done():
		return nil
	}
}

// kill kills the operator that runs.
func (w *world) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wire.kill()
	w.killed++
}

// flip lets the file of rows that comes and goes do so. It is read as a whole.
func (w *world) flip(extra bool) {
	text := noExtra
	if extra {
		text = withExtra
	}
	w.model.flip(extra)
	kit.Write(w.t, w.dir, map[string]string{extraFile: text})
}
