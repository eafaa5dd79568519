package replicas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
)

// Holder holds the Lease of the installation for all its replicas, so that a process that
// serves all resources, as those of older versions do, does not take it: to such a one it
// is the Lease of the leader. The leader renews it, or whoever sees that it was not; a
// replica that has not seen that for longer than trusts serves nothing.
const (
	Holder = "replicas"
	lasts  = 60 * time.Second
	renews = 20 * time.Second
	trusts = 45 * time.Second
	// settles is how long replicas may take to see that the Lease was deleted, and to end
	// what they do.
	settles = 3 * time.Second
)

// tick is how often a replica looks at the division without an event.
const tick = time.Second

// Options are what a Member needs.
type Options struct {
	// Leases are those of the installation's namespace.
	Leases coordinationclient.LeaseInterface
	// Name is that of the installation's Lease, Labels are on it and on those of all
	// replicas.
	Name   string
	Labels map[string]string
	// Buckets is how many there are to be if this replica makes the division.
	Buckets int
	// Serve is told what is to be served from now on. Drained reports whether nothing
	// else is under way any more.
	Serve   func(Share)
	Drained func() bool
	Log     logr.Logger
}

// A Member is one replica's part in the division.
type Member struct {
	options Options
	leases  cache.Store
	synced  func() bool
	looks   chan struct{}

	mu   sync.Mutex
	self string // the name of this replica's Lease
	// newest is the installation's Lease as it was seen last, and base what pending, a
	// change without answer, would replace.
	newest, base *coordinationv1.Lease
	pending      *Division
	deleted      time.Time // when the installation's Lease was found deleted
	seen         map[string]observation
	gone         map[string]bool
	whole, byUID map[string]bool
	bounds       []string
	ending       bool
	told         Share
}

// An observation is when a Lease was seen to be renewed.
type observation struct {
	version string
	at      time.Time
}

// NewMember returns a Member; Run makes it take part.
func NewMember(options Options) *Member {
	return &Member{options: options, looks: make(chan struct{}, 1), seen: map[string]observation{}, gone: map[string]bool{},
		whole: map[string]bool{}, byUID: map[string]bool{}}
}

// Look makes the member look at the division soon.
func (m *Member) Look() {
	select {
	case m.looks <- struct{}{}:
	default:
	}
}

// Want says, if this replica leads, whether the leader is to serve all resources of a kind,
// and whether these are divided by uid.
func (m *Member) Want(kind string, whole, byUID bool) {
	m.mu.Lock()
	before, known := m.byUID[kind]
	changed := m.whole[kind] != whole || before != byUID || !known
	m.whole[kind], m.byUID[kind] = whole, byUID
	m.mu.Unlock()
	if changed {
		m.Look()
	}
}

// Divide has the buckets begin at other bounds, if this replica leads: they are given away
// first, and then divided anew.
func (m *Member) Divide(bounds []string) {
	m.mu.Lock()
	m.bounds = bounds
	m.mu.Unlock()
	m.Look()
}

// Replicas are what the replicas that live say of themselves, by the names of their
// Leases; and the bounds of the buckets.
func (m *Member) Replicas() (says map[string]string, bounds []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	says = map[string]string{}
	for _, o := range m.leases.List() {
		if l := o.(*coordinationv1.Lease); l.Name != m.options.Name { // nothing else is put there
			says[l.Name] = l.Annotations[api.AnnotationReplica]
		}
	}
	d, _ := m.division()
	return says, d.Bounds
}

// IsAlone reports whether no other replica renews its Lease.
func (m *Member) IsAlone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.leases.List() {
		l := o.(*coordinationv1.Lease) // nothing else is put there
		if l.Name != m.options.Name && l.Name != m.self && !m.expired(l) {
			return false
		}
	}
	return true
}

// Unowned is how many buckets no replica has that renews its Lease.
func (m *Member) Unowned() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, _ := m.division()
	owns := map[string]bool{m.self: true}
	for _, o := range m.leases.List() {
		l := o.(*coordinationv1.Lease) // nothing else is put there
		owns[l.Name] = owns[l.Name] || l.Name != m.options.Name && !m.expired(l)
	}
	for _, owner := range d.Owners {
		if !owns[owner] {
			n++
		}
	}
	return n
}

// Run takes part until ctx ends, as the replica whose Lease has that name, and serves nothing
// then. It is an error if the cluster's past came back, as when etcd is restored: then nothing is
// known of who serves what.
func (m *Member) Run(ctx context.Context, self string) error {
	m.mu.Lock()
	m.self = self
	m.mu.Unlock()
	defer m.stopServing()
	informer := cache.NewSharedIndexInformer(cluster.InformerSource(m.source()), &coordinationv1.Lease{}, 0, nil)
	m.leases, m.synced = informer.GetStore(), informer.HasSynced
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { m.Look() }, UpdateFunc: func(any, any) { m.Look() }, DeleteFunc: func(any) { m.Look() }})
	if err != nil {
		return fmt.Errorf("watching Leases: %w", err)
	}
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil
	}
	every := time.NewTicker(tick)
	defer every.Stop()
	for {
		if err := m.look(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-m.looks:
		case <-every.C:
		}
	}
}

// stopServing serves nothing from now on.
func (m *Member) stopServing() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = Share{}
	m.options.Serve(Share{})
}

// source lists and watches the Leases of the installation.
func (m *Member) source() cache.ListerWatcher {
	selects := func(opts metav1.ListOptions) metav1.ListOptions {
		opts.LabelSelector = labels.SelectorFromSet(m.options.Labels).String()
		return opts
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return m.options.Leases.List(ctx, selects(opts))
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return m.options.Leases.Watch(ctx, selects(opts))
		},
	}
}

// Leave gives away everything, once nothing is under way any more, or as far as it could
// by the end of ctx. Run must have ended.
func (m *Member) Leave(ctx context.Context) {
	m.mu.Lock()
	m.ending = true
	m.mu.Unlock()
	for m.synced != nil && m.synced() && ctx.Err() == nil {
		if err := m.look(ctx); err != nil || m.hasNothing() {
			return
		}
		select {
		case <-ctx.Done():
		case <-m.looks:
		case <-time.After(tick / 10):
		}
	}
}

func (m *Member) hasNothing() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending != nil {
		return false
	}
	d, _ := m.division()
	return d.Leader != m.self && !slices.Contains(d.Owners, m.self)
}

// look looks at the Leases once, and does what is this replica's to do.
func (m *Member) look(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.see(ctx); err != nil {
		return err
	}
	d, ours := m.division()
	if slices.Equal(m.bounds, d.Bounds) || d.Leader != m.self {
		m.bounds = nil // they are as wanted, or another one's to choose
	}
	v := m.view(ctx, d)
	share := Share{}
	age := time.Duration(0)
	if m.newest != nil {
		age = time.Since(m.observe(m.newest))
	}
	if ours && age < trusts {
		share = v.share()
	}
	if !share.Same(m.told) {
		m.told = share
		m.options.Log.Info("serves buckets", "as", m.self, "buckets", share.Buckets(), "leads", share.Leads, "replicas", len(v.alive))
		m.options.Serve(share)
	}
	for _, name := range v.unsure() {
		_, err := m.options.Leases.Get(ctx, name, metav1.GetOptions{})
		if m.gone[name] = apierrors.IsNotFound(err); m.gone[name] {
			v.gone[name] = true
		}
	}
	switch change := v.change(m.options.Drained()); {
	case !ours && (m.ending || !m.free()):
		return nil
	case m.pending != nil:
		return m.write(ctx, *m.pending)
	case change != nil || !ours || !m.ending && (share.Leads && age >= renews || age >= renews*3/2):
		return m.write(ctx, ptr.Deref(change, d))
	}
	return nil
}

// see takes up the installation's Lease, from the cache or, while it is not labelled, from
// the server.
func (m *Member) see(ctx context.Context) error {
	for _, o := range m.leases.List() {
		if l := o.(*coordinationv1.Lease); l.Name == m.options.Name { // nothing else is put there
			return m.take(l, false)
		}
	}
	return m.read(ctx)
}

// read reads the installation's Lease from the server.
func (m *Member) read(ctx context.Context) error {
	l, err := m.options.Leases.Get(ctx, m.options.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		if m.newest != nil {
			m.deleted = time.Now()
		}
		m.newest, m.pending = nil, nil
	case err == nil:
		return m.take(l, true)
	}
	return nil // the next look tries again
}

// errWentBack is why a replica ends that has seen what the cluster never had.
var errWentBack = errors.New("the cluster's past came back: who serves what is to be found out anew")

// take takes up the installation's Lease, unless a newer one is known. now: the server has
// just said so.
func (m *Member) take(l *coordinationv1.Lease, now bool) error {
	if m.newest != nil && m.newest.UID == l.UID {
		c, err := resourceversion.CompareResourceVersion(l.ResourceVersion, m.newest.ResourceVersion)
		if err == nil && c < 0 && now {
			return errWentBack
		} else if err == nil && c <= 0 {
			return nil
		}
	}
	m.newest = l
	m.observe(l)
	if m.pending != nil && (m.base == nil || m.base.UID != l.UID || m.base.ResourceVersion != l.ResourceVersion) {
		m.pending = nil // what it would replace is replaced
	}
	return nil
}

// observe notes when a Lease was seen to be renewed, and returns that.
func (m *Member) observe(l *coordinationv1.Lease) time.Time {
	version := string(l.UID) + l.ResourceVersion
	if m.seen[l.Name].version != version {
		m.seen[l.Name] = observation{version, time.Now()}
	}
	return m.seen[l.Name].at
}

// expired reports whether a Lease was not renewed for as long as it lasts, as far as was
// seen.
func (m *Member) expired(l *coordinationv1.Lease) bool {
	lasts := time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second
	return ptr.Deref(l.Spec.HolderIdentity, "") == "" || time.Since(m.observe(l)) >= lasts
}

// free reports whether the installation's Lease may be taken for the replicas. If somebody
// deleted it, what others do by it is to end first.
func (m *Member) free() bool {
	if m.newest == nil {
		return time.Since(m.deleted) > settles
	}
	return m.expired(m.newest)
}

// division is what the installation's Lease says; ours is false while it is not held for
// the replicas, and then nobody serves anything.
func (m *Member) division() (d Division, ours bool) {
	if m.newest == nil {
		return New(m.options.Buckets), false
	}
	d, ok := Read(m.newest.Annotations[api.AnnotationDivision])
	if ours = ok && ptr.Deref(m.newest.Spec.HolderIdentity, "") == Holder; !ok {
		d = New(m.options.Buckets)
	}
	return d, ours
}

// view is what is known now. Leases that were not renewed in time are deleted.
func (m *Member) view(ctx context.Context, d Division) view {
	v := view{self: m.self, division: d, pending: m.pending, alive: []string{m.self}, gone: map[string]bool{},
		ending: m.ending, whole: m.whole, byUID: m.byUID, bounds: m.bounds}
	if len(m.bounds) == 0 && len(d.Bounds) != m.options.Buckets {
		v.bounds = Equal(m.options.Buckets)
	}
	for _, o := range m.leases.List() {
		l := o.(*coordinationv1.Lease) // as above
		if l.Name == m.options.Name || l.Name == m.self {
			continue
		}
		if m.expired(l) && m.delete(ctx, l) {
			continue
		}
		v.alive = append(v.alive, l.Name)
	}
	for name, gone := range m.gone {
		v.gone[name] = gone
	}
	return v
}

// delete deletes the Lease of a replica that is dead, unless it was renewed meanwhile.
func (m *Member) delete(ctx context.Context, l *coordinationv1.Lease) bool {
	err := m.options.Leases.Delete(ctx, l.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion}})
	if err == nil {
		m.options.Log.Info("a replica did not renew its Lease and serves nothing any more", "replica", l.Name)
	}
	return err == nil || apierrors.IsNotFound(err)
}

// write writes a division into the installation's Lease, as it was seen.
func (m *Member) write(ctx context.Context, d Division) error {
	now := metav1.NewMicroTime(time.Now())
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: m.options.Name}}
	if m.newest != nil {
		l = m.newest.DeepCopy()
	}
	for key, value := range m.options.Labels {
		metav1.SetMetaDataLabel(&l.ObjectMeta, key, value)
	}
	metav1.SetMetaDataAnnotation(&l.ObjectMeta, api.AnnotationDivision, d.String())
	seconds := int32(lasts / time.Second)
	l.Spec = coordinationv1.LeaseSpec{HolderIdentity: ptr.To(Holder), LeaseDurationSeconds: &seconds, RenewTime: &now,
		AcquireTime: l.Spec.AcquireTime, LeaseTransitions: l.Spec.LeaseTransitions}
	if d.Leader == "" && !slices.ContainsFunc(d.Owners, func(owner string) bool { return owner != "" }) && m.ending {
		l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = nil, ptr.To[int32](1)
	}
	m.base, m.pending = m.newest, &d
	var answer *coordinationv1.Lease
	var err error
	if m.newest == nil {
		answer, err = m.options.Leases.Create(ctx, l, metav1.CreateOptions{})
	} else {
		answer, err = m.options.Leases.Update(ctx, l, metav1.UpdateOptions{})
	}
	switch {
	case err == nil:
		m.Look()
		return m.take(answer, true)
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err):
		m.pending = nil
		return m.read(ctx)
	}
	m.options.Log.Info("the division was not written", "error", err.Error())
	return nil
}
