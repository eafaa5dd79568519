package controller

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/locks"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/memory"
)

// dividing is an operator, without CRDs or folders, that divides resources by Leases in
// memory, with a division that is there already, and with other replicas. It runs until the test ends.
func dividing(t *testing.T, before replicas.Division, others ...string) *Operator {
	t.Helper()
	o := defining(t)
	t.Cleanup(o.names.ShutDown)
	o.listed, o.read, o.mapsRead, o.divided = true, true, true, locks.NewSignal()
	o.options.Buckets, o.options.LeaderElectionNamespace = len(before.Owners), "home"
	none := func(api.Owner, types.UID) {}
	children, err := cluster.NewChildren(&rest.Config{}, cluster.ChildrenOptions{Changed: none, Part: o.share.childPart})
	if err != nil {
		t.Fatal(err)
	}
	reads, err := cluster.NewReads(&rest.Config{}, cluster.ReadsOptions{Changed: func(api.Owner) {}, PatchChanged: func(types.UID) {}})
	if err != nil {
		t.Fatal(err)
	}
	resources, err := cluster.NewResources(&rest.Config{}, cluster.ResourcesOptions{Part: o.share.resourcePart,
		Changed: o.wakeUps.resourceChanged, Synced: o.wakeUps.resourcesSynced, Troubled: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	o.resources, o.children, o.reads = resources, children, reads
	copy(before.Owners, others) // only an owner, or who confirms the division, gets buckets
	labels := map[string]string{api.LabelReplicas: "some"}
	leases := []apiruntime.Object{&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: "jacquard.dev", ResourceVersion: "1", Labels: labels,
			Annotations: map[string]string{api.AnnotationDivision: before.String()}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("replicas"), LeaseDurationSeconds: ptr.To[int32](60)},
	}}
	for _, name := range others {
		leases = append(leases, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: name, ResourceVersion: "1", Labels: labels},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To(name), LeaseDurationSeconds: ptr.To[int32](3600)}})
	}
	o.membership.member = replicas.NewMember(replicas.Options{Leases: leasesInMemory(leases...).CoordinationV1().Leases("home"), Name: "jacquard.dev", Labels: labels, Buckets: len(before.Owners),
		Serve: o.share.takeShare, IsDrained: o.inFlight.isDrained, Log: logr.Discard()})
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	go o.membership.member.Run(ctx, "self") //nolint:errcheck // it ends with the test
	go o.share.followShare(ctx)             //nolint:errcheck // as above
	go func() { o.manager.syncNext(ctx) }() // until the queue is shut down
	return o
}

// leasesInMemory is an API server of Leases that counts their versions.
func leasesInMemory(there ...apiruntime.Object) *fake.Clientset {
	server := fake.NewClientset(there...)
	version := 1
	server.PrependReactor("update", "leases", func(a clienttesting.Action) (bool, apiruntime.Object, error) {
		lease := a.(clienttesting.UpdateAction).GetObject().(*coordinationv1.Lease)
		version++
		lease.ResourceVersion = strconv.Itoa(version)
		return true, lease, server.Tracker().Update(a.GetResource(), lease, a.GetNamespace())
	})
	server.PrependWatchReactor("leases", func(a clienttesting.Action) (bool, watch.Interface, error) {
		if a.(clienttesting.WatchActionImpl).ListOptions.SendInitialEvents != nil { // the tracker sends no bookmarks
			return true, nil, apierrors.NewInvalid(apischema.GroupKind{}, "leases", nil)
		}
		return false, nil, nil
	})
	return server
}

func setMapsRead(o *Operator, read bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mapsRead = read
}

// TestDeletedKindIsDivided: a kind that was deleted during its rollout is not exclusive any more,
// whoever leads.
func TestDeletedKindIsDivided(t *testing.T) {
	const gone = "gones.example.com"
	for name, c := range map[string]struct {
		before replicas.Division
		rolls  bool
	}{
		"it was rolled out by this leader":    {before: replicas.New(4), rolls: true},
		"it was rolled out by another leader": {before: replicas.Division{Exclusive: map[string][]string{gone: {"dead"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.before.Owners, c.before.Leader = []string{"dead", "dead", "dead", "dead"}, "dead"
				o := dividing(t, c.before)
				time.Sleep(10 * time.Second)
				if c.rolls {
					setMapsRead(o, false) // nothing is decided of a kind without folder
					o.membership.member.SetExclusive(gone, true)
					time.Sleep(10 * time.Second)
					if !o.inFlight.currentShare().IsExclusive(gone) {
						t.Fatal("the leader does not serve all of the kind")
					}
					setMapsRead(o, true)
					o.watcher.crdWent(defines("gones", "Gone", true))
					time.Sleep(10 * time.Second)
				}
				if share := o.inFlight.currentShare(); !share.Leads || !share.IsEverything() {
					t.Errorf("the replica leads: %v, and serves everything: %v", share.Leads, share.IsEverything())
				}
			})
		})
	}
}

// TestAllReplicasCount: what is said of all resources of a kind counts those that other
// replicas serve.
func TestAllReplicasCount(t *testing.T) {
	const ready, unready = `[{"type":"Ready","status":"True","observedGeneration":1}]`, `[{"type":"Ready","status":"False","observedGeneration":1}]`
	for name, c := range map[string]struct {
		conditions string
		is         []string
		forced     string
		retired    bool
		follows    bool
	}{
		"another led before":             {conditions: ready, follows: true},
		"another led, and it is unready": {conditions: unready, follows: true, forced: "elsewhere/there"},
		"all is done":                    {conditions: ready},
		"a resource is not ready":        {conditions: unready, forced: "elsewhere/there"},
		"a child is there":               {conditions: ready, is: []string{"things.example.com/elsewhere/there"}, retired: true},
		"a child of another kind is":     {conditions: ready, is: []string{"others.example.com/elsewhere/there"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := memory.New(resourceOf("", "Namespace", false), resourceOf("", "ConfigMap", true), resourceOf("", "ServiceAccount", true),
					resourceOf("apiextensions.k8s.io", "CustomResourceDefinition", false), resourceOf("example.com", "Thing", true))
				server.Put(memory.Object(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"namespace":"elsewhere","name":"there","uid":"u1","generation":1},
					"status":{"conditions":` + c.conditions + `}}`))
				for _, owner := range c.is {
					server.Put(memory.Object(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":"elsewhere","name":"there","labels":
						{"jacquard.dev/owner-uid":"u1"},"annotations":{"jacquard.dev/owner":"` + owner + `"}}}`))
				}
				before := replicas.New(4)
				o := dividing(t, before, "other")
				setMapsRead(o, false) // nothing is decided of a kind without folder
				r := o.leading(t, server, c.follows)
				time.Sleep(10 * time.Second)
				if share := o.inFlight.currentShare(); !share.Leads || share.IsEverything() {
					t.Fatalf("the share is %+v", share)
				}
				for range 30 {
					if _, err := o.rollouts.advanceKind(t.Context(), r); err != nil {
						t.Fatal(err)
					}
					r.takeRecord(kinds.ReadRecord(o.latestCRD(r.name), shard.Shard{}).Rollout)
					time.Sleep(10 * time.Second)
				}
				marks := server.Get(resourceOf("apiextensions.k8s.io", "CustomResourceDefinition", false).GVK, "", r.name).GetAnnotations()
				if record := rollout.ParseRecord(marks[api.AnnotationRollout]); strings.Join(record.Passed, ",") != c.forced {
					t.Errorf("forced are %v", record.Passed)
				}
				if got := marks[api.AnnotationChildKinds]; (got == "ConfigMap,ServiceAccount") != c.retired || got != "ConfigMap" && !c.retired {
					t.Errorf("on record are %s", got)
				}
			})
		})
	}
}

// leading is a kind at work whose folder makes ConfigMaps, and made ServiceAccounts before.
// Its rollout was forced past two resources of other replicas, one of which is gone. If it
// follows, another replica led when it began to serve the kind.
func (o *Operator) leading(t *testing.T, server *memory.Server, follows bool) *kindController {
	t.Helper()
	cfg, through := server.Client()
	discovery, err := cluster.NewDiscovery(cfg, through)
	if err == nil {
		err = discovery.Refresh(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	writer, err := apply.NewWriter(cfg, through)
	if err != nil {
		t.Fatal(err)
	}
	record := rollout.Record{Revisions: []rollout.Revision{{Number: 1, Digest: "now"}}, State: rollout.Complete, Passed: []string{"elsewhere/gone", "elsewhere/there"}, NotReady: 2}
	crd := defines("things", "Thing", true)
	crd.UID, crd.Spec.Scope = "crd", apiextensionsv1.NamespaceScoped
	crd.Annotations = map[string]string{api.AnnotationOperator: "jacquard", api.AnnotationChildKinds: "ConfigMap,ServiceAccount", api.AnnotationRollout: record.String(),
		api.AnnotationRolledOut: "now"}
	crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	stored, err := apiruntime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		t.Fatal(err)
	}
	server.Put(&unstructured.Unstructured{Object: stored})
	crd.ResourceVersion = server.Get(crd.GroupVersionKind(), "", crd.Name).GetResourceVersion()
	r := &kindController{o: o.kindTable, name: crd.Name, shard: shard.Shard{Identity: "jacquard"}, gvk: resourceOf("example.com", "Thing", true).GVK, versions: newKindVersions(func() {}, func() bool { return false }),
		resources: known(t, crd.Name)}
	r.reconciler = reconcile.New(r.name, r.gvk, nil, reconcile.Cluster{Writer: writer, Caches: observe.Caches{Served: discovery.Served, CRD: o.latestCRD, Shard: shard.Shard{Identity: "jacquard"}}})
	o.mu.Lock()
	o.apis.discovery, o.writer, o.options.Identity = discovery, writer, "jacquard"
	o.stateOf(r.name).crd = crd
	o.mu.Unlock()
	if follows {
		r.takeRecord(rollout.Record{Revisions: record.Revisions, State: rollout.Complete})
	}
	r.takeRecord(record)
	return r
}

// takeRecord serves the only version that there is, by what is on record.
func (r *kindController) takeRecord(record rollout.Record) {
	v := versionOf("now")
	v.Kind.Settings.ResyncInterval.Duration = time.Minute
	versions := []servedVersion{{Revision: record.Target(), version: v}}
	r.versions.adoptVersions(kinds.Desired{Mode: kinds.Serve, Versions: make([]kinds.Version, 1)}, record, versions, time.Now())
}

// TestShareBeginsKinds: a replica that is given a share looks at all kinds at once, since the lists of
// their resources, for which everything else waits, begin with that.
func TestShareBeginsKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := defining(t)
		defer o.names.ShutDown()
		o.listed, o.read, o.mapsRead, o.divided = true, true, true, locks.NewSignal()
		o.options.Buckets, o.options.LeaderElectionNamespace = 2, "home"
		resources, err := cluster.NewResources(&rest.Config{}, cluster.ResourcesOptions{Part: o.share.resourcePart,
			Changed: o.wakeUps.resourceChanged, Synced: o.wakeUps.resourcesSynced, Troubled: func(string) {}})
		if err != nil {
			t.Fatal(err)
		}
		o.resources = resources
		crd := defines("things", "Thing", true)
		o.kinds[crd.Name] = &kindState{crd: crd, source: chosenSource{folder: &folder.Folder{Name: crd.Name}}}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- o.share.followShare(ctx) }()
		synctest.Wait()
		for o.names.Len() > 0 {
			name, _ := o.names.Get()
			o.names.Done(name)
		}
		division := replicas.New(2)
		division.Owners[0], division.Owners[1], division.Leader = "self", "self", "self"
		o.share.takeShare(division.ShareOf("self"))
		synctest.Wait()
		if o.names.Len() != 1 {
			t.Errorf("%d kinds are looked at, want 1", o.names.Len())
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// resourceOf is how a kind is served.
func resourceOf(group, name string, namespaced bool) live.Resource {
	gv := apischema.GroupVersion{Group: group, Version: "v1"}
	return live.Resource{GVR: gv.WithResource(strings.ToLower(name) + "s"), GVK: gv.WithKind(name), Namespaced: namespaced}
}

// TestServedOnceOthersGaveItAway: a folder that the leader cannot begin to roll out, since other
// replicas still serve resources of the kind, is not reported as serving them.
func TestServedOnceOthersGaveItAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := memory.New(resourceOf("", "Namespace", false), resourceOf("", "ConfigMap", true), resourceOf("", "ServiceAccount", true),
			resourceOf("apiextensions.k8s.io", "CustomResourceDefinition", false), resourceOf("example.com", "Thing", true))
		o := dividing(t, replicas.New(4), "other")
		setMapsRead(o, false) // nothing is decided of a kind without folder
		r := o.leading(t, server, false)
		time.Sleep(10 * time.Second)
		o.mu.Lock()
		k := o.stateOf(r.name)
		k.controller, k.source.folder, k.synced = r, &folder.Folder{Name: r.name, Digest: "next"}, "next"
		o.mu.Unlock()
		o.manager.requestKind(&kindPass{o: o.manager, name: r.name, running: r}, kinds.Desired{})
		if told, _ := o.report.reportOf(r.name); told.State != verdict.RollingOut {
			t.Errorf("it is %s: %s", told.State, told.Message)
		}
	})
}

// TestClaimsStayWithReplicas: an operator outside of the cluster that ends takes its claims, and
// what is recorded with them, off the CRDs, unless another replica goes on.
func TestClaimsStayWithReplicas(t *testing.T) {
	for name, c := range map[string]struct {
		others []string
		claim  string
	}{
		"the last replica":   {nil, ""},
		"another replica is": {[]string{"other"}, "jacquard"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := memory.New(resourceOf("", "Namespace", false), resourceOf("", "ConfigMap", true), resourceOf("", "ServiceAccount", true),
					resourceOf("apiextensions.k8s.io", "CustomResourceDefinition", false), resourceOf("example.com", "Thing", true))
				o := dividing(t, replicas.New(4), c.others...)
				setMapsRead(o, false) // nothing is decided of a kind without folder
				r := o.leading(t, server, false)
				time.Sleep(10 * time.Second)
				o.options.Local = true
				o.ends = new(atomic.Bool)
				o.ends.Store(true)
				o.membership.giveUp()
				marks := server.Get(resourceOf("apiextensions.k8s.io", "CustomResourceDefinition", false).GVK, "", r.name).GetAnnotations()
				if got := marks[api.AnnotationOperator]; got != c.claim {
					t.Errorf("it is claimed by %q", got)
				}
				if got := marks[api.AnnotationRolledOut]; (got != "") != (c.claim != "") {
					t.Errorf("rolled out is %q", got)
				}
			})
		})
	}
}
