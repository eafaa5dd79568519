package chaos

import (
	"bufio"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A fault goes wrong for some time.
type fault struct {
	name string
	// begin lets it go wrong, and returns what ends it.
	begin func(w *world, dice *rand.Rand) (end func())
}

// faults are what goes wrong, one thing at a time; people never rest meanwhile.
var faults = []fault{
	{"the operator is killed", func(w *world, _ *rand.Rand) func() { w.kill(); return nothing }},
	{"the operator is killed soon after it began", func(w *world, dice *rand.Rand) func() {
		w.kill()
		time.Sleep(time.Duration(500+dice.IntN(2000)) * time.Millisecond)
		w.kill()
		return nothing
	}},
	{"the API server is killed", func(w *world, _ *rand.Rand) func() {
		w.signal("apiserver", syscall.SIGKILL)
		return nothing
	}},
	{"the API server refuses requests", func(w *world, dice *rand.Rand) func() { return w.weather(weather{refused: 10 + dice.IntN(60)}) }},
	{"answers are lost", func(w *world, dice *rand.Rand) func() { return w.weather(weather{lost: 10 + dice.IntN(40)}) }},
	{"watches end", func(w *world, _ *rand.Rand) func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wire.endWatches()
		return nothing
	}},
	{"etcd is stopped for ten seconds", func(w *world, _ *rand.Rand) func() {
		w.signal("etcd", syscall.SIGSTOP)
		time.Sleep(10 * time.Second)
		w.signal("etcd", syscall.SIGCONT)
		return nothing
	}},
	{"a folder changes and rolls back", func(w *world, _ *rand.Rand) func() {
		w.flip(false)
		return func() { w.flip(true) }
	}},
	{"a right goes and comes", takeRight},
}

func nothing() {}

// weather changes the weather, and ends that.
func (w *world) weather(to weather) func() {
	w.sky.now.Store(&to)
	return func() { w.sky.now.Store(&weather{}) }
}

// signal sends a signal to a part of the cluster.
func (w *world) signal(part string, s syscall.Signal) {
	pid, err := cluster.Process(part)
	if err == nil {
		err = syscall.Kill(pid, s)
	}
	if err != nil {
		w.t.Errorf("sending %v to %s: %v", s, part, err)
	}
}

// takeRight takes some verbs of one of the operator's rules away.
func takeRight(w *world, dice *rand.Rand) func() {
	ctx := context.Background()
	var roles rbacv1.ClusterRoleList
	w.insist(ctx, "listing the operator's roles", func(ctx context.Context) error { return w.admin.List(ctx, &roles) })
	roles.Items = slices.DeleteFunc(roles.Items, func(r rbacv1.ClusterRole) bool {
		return !strings.HasPrefix(r.Name, kit.User+":") || len(r.Rules) == 0
	})
	if len(roles.Items) == 0 {
		w.t.Error("the operator has no roles")
		return nothing
	}
	role := roles.Items[dice.IntN(len(roles.Items))]
	set := func(rules []rbacv1.PolicyRule) {
		w.insist(ctx, "changing a role", func(ctx context.Context) error {
			live := &rbacv1.ClusterRole{}
			if err := w.admin.Get(ctx, client.ObjectKeyFromObject(&role), live); err != nil {
				return err
			}
			live.Rules = rules
			return w.admin.Update(ctx, live)
		})
	}
	i := dice.IntN(len(role.Rules))
	without := slices.Delete(slices.Clone(role.Rules), i, i+1)
	w.t.Logf("  of %s: %v", role.Name, role.Rules[i])
	set(without)
	return func() { set(role.Rules) }
}

// strike lets faults happen until the context ends, in an order that the seed
// decides, and ends the last.
func (w *world) strike(ctx context.Context, seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 2))
	wait := func(limit time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second/2 + time.Duration(dice.Int64N(int64(limit)))):
		}
	}
	begun := time.Now()
	for ctx.Err() == nil {
		f := faults[dice.IntN(len(faults))]
		w.t.Logf("%4.0f s: %s", time.Since(begun).Seconds(), f.name)
		end := f.begin(w, dice)
		wait(6 * time.Second)
		end()
		wait(3 * time.Second)
	}
}

// overhear reads the audit log until the context ends, and judges each deletion
// by the operator.
func (w *world) overhear(ctx context.Context, log *bufio.Reader) {
	var part string
	for {
		line, err := log.ReadString('\n')
		part += line
		if err == nil {
			if r, ours := kit.ParseAudit([]byte(part)); ours && r.Verb == "delete" && r.Code == 200 {
				if err := w.model.judge(keyOf(r.Resource, r.Namespace, r.Name)); err != nil {
					w.t.Error(err)
				}
			}
			part = ""
			continue
		}
		if ctx.Err() != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
