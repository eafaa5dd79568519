package operators

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestLateHeir: a follower whose watch of resources is late takes over. What the
// leader before it made of a change that the follower does not see yet is not
// undone: nothing is deleted, made or changed by what the resource said before.
func TestLateHeir(t *testing.T) {
	t.Parallel()
	s := build(t, plain)
	among := controller.Options{
		LeaderElectionNamespace: s.namespace,
		Lease:                   controller.Lease{Duration: time.Minute, RenewDeadline: 50 * time.Second, RetryPeriod: time.Second / 2},
	}
	s.access.Serve(controller.Options{Identity: "test/" + s.group, LeaderElectionNamespace: s.namespace}, s.dir)
	made := record(t, s.namespace)
	leader := newWire()
	s.startAs(leader, among)
	s.web("a", want{"one", "old", false}.spec())
	s.until("the first leads", func() error { return s.owned(want{"one", "old", false}) })
	follower := newWire()
	s.startAs(follower, among)
	s.rests("the other has listed everything", func() error { return s.owned(want{"one", "old", false}) })
	follower.holdWatches("webs")
	to := want{"two", "new", false}
	s.web("a", to.spec())
	kit.Eventually(t, "the leader follows", func() error { return s.owned(to) })
	leader.kill()
	before := releaseLease(t, s.namespace, s.group)
	kit.Eventually(t, "the other leads", func() error {
		if now := leaseHolder(t, s.namespace, s.group); now == before || now == "" {
			return fmt.Errorf("%q holds the Lease, after %q", now, before)
		}
		return nil
	})
	kit.Eventually(t, "the other has asked for the resource twice", func() error {
		n := 0
		for _, r := range follower.asked() {
			if r.method == http.MethodGet && r.resource == "webs" {
				n++
			}
		}
		if n < 2 {
			return fmt.Errorf("it asked %d times", n)
		}
		return nil
	})
	if err := s.owned(to); err != nil {
		t.Errorf("undone: %v", err)
	}
	made.are(t, map[string]int{"a": 1, "one": 1, "two": 1})
	follower.catchUp()
	s.until("the other says it too", func() error { return cluster.Ready(s.apiVersion(), "Web", s.namespace, "a") })
	s.rests("the other says it too", func() error { return s.owned(to) })
	made.are(t, map[string]int{"a": 1, "one": 1, "two": 1})
}

// owned says what of the owned children is not as the resource wants it.
func (s *site) owned(w want) error {
	if err := s.texts(map[string]string{w.name: w.text}); err != nil {
		return err
	}
	return s.secrets(w)
}

// texts says how the ConfigMaps and their texts are not these.
func (s *site) texts(want map[string]string) error {
	var all corev1.ConfigMapList
	if err := cluster.Client.List(ctx, &all, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	got := map[string]string{}
	for _, m := range all.Items {
		got[m.Name] = m.Data["text"]
	}
	delete(got, "kube-root-ca.crt")
	return equal("ConfigMaps", got, want)
}
