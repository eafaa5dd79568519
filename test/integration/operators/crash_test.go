package operators

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A site is a kind Web of a test's own, its folder and a namespace; at most one
// operator serves it.
type site struct {
	*testing.T
	group, namespace string
	dir              string
	root             *folder.Root
	access           *kit.Access
	*wire
}

var sites atomic.Int64

// build writes a folder and makes its CRD; no operator runs yet.
func build(t *testing.T, files map[string]string) *site {
	t.Helper()
	s := &site{T: t, group: fmt.Sprintf("site%d.example.com", sites.Add(1)), namespace: cluster.Namespace(t)}
	dir := t.TempDir()
	s.dir = dir
	placed := map[string]string{}
	for name, text := range files {
		placed["templates/webs."+s.group+"/"+name] = text
	}
	kit.Write(t, dir, placed)
	s.root = folder.FromDir(dir)
	cluster.Apply(t, "", strings.ReplaceAll(kit.WebCRD, "GROUP", s.group))
	t.Cleanup(func() {
		cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "webs."+s.group)
	})
	cluster.Served(t, s.apiVersion(), "Web")
	s.access = cluster.Access(t)
	s.access.Serve(controller.Options{Identity: "test/" + s.group}, dir)
	return s
}

func (s *site) apiVersion() string { return s.group + "/v1" }

// start starts an operator that has this wire. Nobody ever asks it to stop: it
// is killed, at the end of the test at the latest.
func (s *site) start(w *wire) {
	s.Helper()
	s.startAs(w, controller.Options{})
}

// startAs starts one with further options.
func (s *site) startAs(w *wire, o controller.Options) {
	s.Helper()
	s.wire = w
	w.about = [][]byte{[]byte(s.group), []byte(s.namespace)}
	cfg := rest.CopyConfig(s.access.Config)
	cfg.Wrap(w.through)
	if w.twist != nil {
		cfg.ContentType = "application/json"
	}
	o.Config, o.Roots, o.Identity = cfg, []*folder.Root{s.root}, "test/"+s.group
	op, err := controller.New(o)
	if err != nil {
		if w.killed() { // it may be killed that early
			return
		}
		s.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		err := op.Run(w.alive)
		if err != nil && !w.killed() {
			s.Errorf("the operator ended: %v", err)
		}
		done <- err
	}()
	s.Cleanup(func() {
		w.kill()
		select {
		case <-done: //nolint:errcheck // what a killed operator says counts for nothing
		case <-time.After(time.Minute):
			s.Error("a killed operator does not end")
		}
	})
}

// web applies a custom resource with this spec, in flow style.
func (s *site) web(name, spec string) {
	s.Helper()
	cluster.Apply(s, s.namespace, fmt.Sprintf("apiVersion: %s\nkind: Web\nmetadata: {name: %s}\nspec: {%s}\n", s.apiVersion(), name, spec))
}

// patience is how long a test waits for what must come.
const patience = 90 * time.Second

// until polls check until it returns nil or the operator is killed, which it
// tells. What check says must hold for a moment in which nothing is written.
func (s *site) until(what string, check func() error) (killed bool) {
	s.Helper()
	err := errors.New("the operator writes all the time")
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if s.killed() {
			return true
		}
		if s.idle(settled) { // what is being written is not there yet
			if err = check(); err == nil && s.idle(settled) {
				return false
			}
		}
		select {
		case <-s.alive.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.Fatalf("waiting until %s: %v", what, err)
	return false
}

// settled is how long nothing was written when a phase counts as done.
const settled = 300 * time.Millisecond

// rests waits until the operator has nothing left to do. Then what check says must hold
// still.
func (s *site) rests(what string, check func() error) {
	s.Helper()
	cluster.AwaitQuiet(s, s.activity)
	if err := check(); err != nil {
		s.Errorf("at rest after %s: %v", what, err)
	}
}

// collectGarbage deletes what resources that are gone own.
func (s *site) collectGarbage() {
	s.Helper()
	collectGarbage(s, s.namespace)
}

// collectGarbage deletes what resources that are gone own in their namespace, as the garbage
// collector does, which finds out about a new kind only after up to half a minute.
func collectGarbage(t testing.TB, namespace string) {
	t.Helper()
	for _, kind := range []string{"ConfigMap", "Secret"} {
		for _, o := range cluster.List(t, "v1", kind, client.InNamespace(namespace), client.HasLabels{api.LabelOwnerUID}) {
			owners := o.GetOwnerReferences()
			if len(owners) != 1 || string(owners[0].UID) != o.GetLabels()[api.LabelOwnerUID] {
				t.Fatalf("the garbage collector leaves %s %s, with the owners %v", kind, o.GetName(), owners)
			}
			owner, err := cluster.Get(owners[0].APIVersion, owners[0].Kind, namespace, owners[0].Name)
			if client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			if err != nil || owner.GetUID() != owners[0].UID {
				cluster.Delete(t, "v1", kind, namespace, o.GetName())
			}
		}
	}
}

var ctx = context.Background()
