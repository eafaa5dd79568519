// Package chaos lets everything go wrong at once, at random, while people edit
// hundreds of resources, kills the control plane and restores an older one, and looks at
// what the operator deletes and at what the cluster says in the end.
package chaos

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	if os.Getenv("NIGHTLY") == "" {
		kit.Main(m, nil) // for TestDefectsFit
	}
	kit.Main(m, &cluster, "--restart", "--nodes", "0", "--components", "etcd,apiserver,controller-manager")
}

// people is how many edit at the same time, each some of the resources.
const people = 6

// TestChaos: the operator deletes nothing that did not leave the desired set,
// and in the end everything is as the resources say. CHAOS_TIME is how long it
// goes on, CHAOS_SEED the order of what goes wrong, CHAOS_RESOURCES how many
// resources there are, CHAOS_PATIENCE how long the cluster may take to get into
// order once nothing goes wrong any more: what was refused is tried again after
// a minute or more.
func TestChaos(t *testing.T) {
	kit.Nightly(t, "chaos")
	length, patience := span(t, "CHAOS_TIME", "1m"), span(t, "CHAOS_PATIENCE", "6m")
	seed, err := strconv.ParseUint(setting("CHAOS_SEED", strconv.FormatInt(time.Now().UnixNano()%1_000_000, 10)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	count, err := strconv.Atoi(setting("CHAOS_RESOURCES", "300"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("CHAOS_SEED=%d CHAOS_TIME=%v CHAOS_RESOURCES=%d", seed, length, count)
	w := newWorld(t, seed, count)
	w.patience = patience
	log, err := os.Open(filepath.Join(cluster.Dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	serving, stop := context.WithCancel(context.Background())
	defer stop()
	w.running.Add(1)
	go w.serve(serving)
	listening, deaf := context.WithCancel(context.Background())
	var heard sync.WaitGroup
	heard.Go(func() { w.overhear(listening, bufio.NewReader(log)) })

	w.suffer(length, seed)
	w.end(t)
	deaf()
	heard.Wait()
	stop()
	w.running.Wait()
}

// suffer makes all resources, and then lets everything go wrong for a while.
func (w *world) suffer(length time.Duration, seed uint64) {
	var busy sync.WaitGroup
	crowd := make([]*person, people)
	for i := range crowd {
		crowd[i] = &person{world: w, dice: rand.New(rand.NewPCG(seed, uint64(100+i)))}
	}
	for i, r := range w.resources {
		p := crowd[i%people]
		p.resources = append(p.resources, r)
	}
	for _, p := range crowd {
		busy.Go(func() {
			for _, r := range p.resources {
				p.put(context.Background(), r, p.some())
			}
		})
	}
	busy.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	for _, p := range crowd {
		busy.Go(func() { p.live(ctx) })
	}
	busy.Go(func() { w.strike(ctx, seed) })
	busy.Wait()
	w.t.Logf("%d operators were killed", w.killed)
}

func span(t *testing.T, name, usual string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(setting(name, usual))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func setting(name, usual string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return usual
}
