package replicas

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	"github.com/jacquard-operator/jacquard/engine/locks"
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
	// Name is the name of the installation's Lease. Labels are on it and on the Leases of all
	// replicas.
	Name   string
	Labels map[string]string
	// Buckets is how many there should be. The number changes only while nobody owns any.
	Buckets int
	// Serve takes what is to be served from now on. IsDrained reports whether nothing else is
	// under way any more.
	Serve     func(Share)
	IsDrained func() bool
	Log       logr.Logger
}

// A Member is one replica's part in the division.
type Member struct {
	options Options
	looks   locks.Signal
	left    locks.Signal // sent when Run has given away everything, or has ended

	mu        locks.Mutex
	exclusive map[string]bool // see view
	status    Status
	isRunning bool
	isEnding  bool

	// What follows belongs to the goroutine of Run.

	leases cache.Store
	self   string // the name of this replica's Lease
	// newest is the installation's Lease as it was seen last. pending is a change of it without
	// an answer, and base what that would replace.
	newest, base *coordinationv1.Lease
	pending      *Division
	deleted      time.Time // when the installation's Lease was found deleted
	seen         map[string]observation
	gone         map[string]bool
	served       Share
}

// A Status is what a Member saw when it last looked.
type Status struct {
	// Digest identifies the division, or is empty if there is none. The Lease of this replica
	// confirms it.
	Digest string
	// Reports are what the replicas that have a Lease report of themselves, by its name.
	Reports map[string]string
	// IsAlone is true if no other replica renews its Lease.
	IsAlone bool
	// Unowned is how many buckets belong to no replica that renews its Lease.
	Unowned int
}

// An observation is when a Lease was seen to be renewed.
type observation struct {
	version string
	at      time.Time
}

// NewMember returns a Member; Run makes it take part.
func NewMember(options Options) *Member {
	return &Member{options: options, looks: locks.NewSignal(), left: locks.NewSignal(),
		seen: map[string]observation{}, gone: map[string]bool{},
		exclusive: map[string]bool{}}
}

// Look makes the member look at the division soon.
func (m *Member) Look() { m.looks.Notify() }

// SetExclusive records whether the leader is to serve all resources of a kind. It matters while
// this replica leads. A kind of which nothing was recorded stays as the division has it.
func (m *Member) SetExclusive(kind string, exclusive bool) {
	m.mu.Lock()
	before, isDecided := m.exclusive[kind]
	m.exclusive[kind] = exclusive
	m.mu.Unlock()
	if before != exclusive || !isDecided {
		m.Look()
	}
}

// Status returns what the member saw when it last looked.
func (m *Member) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status
}

// publishStatus publishes what is seen now.
func (m *Member) publishStatus(d Division, isOurs bool) {
	s := Status{Reports: map[string]string{}, IsAlone: true}
	if isOurs {
		s.Digest = d.Digest()
	}
	isAlive := map[string]bool{m.self: true}
	for _, l := range m.replicaLeases() {
		s.Reports[l.Name] = l.Annotations[api.AnnotationReplica]
		if isAlive[l.Name] = l.Name == m.self || !m.hasExpired(l); isAlive[l.Name] && l.Name != m.self {
			s.IsAlone = false
		}
	}
	for _, owner := range d.Owners {
		if !isAlive[owner] {
			s.Unowned++
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status = s
}

// replicaLeases returns the Leases of the replicas.
func (m *Member) replicaLeases() (all []*coordinationv1.Lease) {
	for _, o := range m.leases.List() {
		if l := o.(*coordinationv1.Lease); l.Name != m.options.Name { // nothing else is put there
			all = append(all, l)
		}
	}
	return all
}

// Run takes part until ctx ends, as the replica whose Lease has that name, and serves nothing
// then. It is an error if the cluster's past came back, as when etcd is restored: then nothing is
// known of who serves what.
func (m *Member) Run(ctx context.Context, self string) error {
	m.self = self
	m.mu.Lock()
	m.isRunning = true
	m.mu.Unlock()
	defer func() {
		m.served = Share{}
		m.options.Serve(Share{})
		m.mu.Lock()
		m.isRunning = false
		m.mu.Unlock()
		m.left.Notify()
	}()
	informer := cache.NewSharedIndexInformer(cluster.InformerSource(m.leaseSource()), &coordinationv1.Lease{}, 0, nil)
	m.leases = informer.GetStore()
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
		if err := m.lookOnce(ctx); err != nil {
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

// leaseSource lists and watches the Leases of the installation.
func (m *Member) leaseSource() cache.ListerWatcher {
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

// Leave has Run give away everything once nothing is under way any more, and waits until it has, or
// until ctx ends.
func (m *Member) Leave(ctx context.Context) {
	select {
	case <-m.left: // of an earlier Run
	default:
	}
	m.mu.Lock()
	m.isEnding = true
	isRunning := m.isRunning
	m.mu.Unlock()
	if !isRunning {
		return
	}
	m.Look()
	select {
	case <-m.left:
	case <-ctx.Done():
	}
}

// hasNothing reports whether this replica has nothing left to give away.
func (m *Member) hasNothing() bool {
	if m.pending != nil {
		return false
	}
	d, _ := m.presentDivision()
	return d.Leader != m.self && !slices.Contains(d.Owners, m.self)
}

// lookOnce looks at the Leases once, and does what is this replica's to do.
func (m *Member) lookOnce(ctx context.Context) (err error) {
	if err := m.refreshLease(ctx); err != nil {
		return err
	}
	d, isOurs := m.presentDivision()
	m.publishStatus(d, isOurs)
	v := m.currentView(ctx, d)
	share := Share{}
	age := time.Duration(0)
	if m.newest != nil {
		age = time.Since(m.observeRenewal(m.newest))
	}
	if isOurs && age < trusts {
		share = v.presentShare()
	}
	if !share.Equal(m.served) {
		m.served = share
		m.options.Log.Info("serves buckets", "as", m.self, "buckets", share.Buckets(), "leads", share.Leads, "replicas", len(v.alive)+1)
		m.options.Serve(share)
	}
	for _, name := range v.unseenReplicas() {
		_, err := m.options.Leases.Get(ctx, name, metav1.GetOptions{})
		if m.gone[name] = apierrors.IsNotFound(err); m.gone[name] {
			v.gone[name] = true
		}
	}
	switch change := v.nextDivision(m.options.IsDrained()); {
	case !isOurs && (v.isEnding || !m.isLeaseFree()):
	case m.pending != nil:
		err = m.write(ctx, *m.pending, v.isEnding)
	case change != nil || !isOurs || !v.isEnding && (share.Leads && age >= renews || age >= renews*3/2):
		err = m.write(ctx, ptr.Deref(change, d), v.isEnding)
	}
	if v.isEnding && m.hasNothing() {
		m.left.Notify()
	}
	return err
}

// refreshLease takes in the installation's Lease, from the cache or, while it is not labelled, from
// the API server.
func (m *Member) refreshLease(ctx context.Context) error {
	for _, o := range m.leases.List() {
		if l := o.(*coordinationv1.Lease); l.Name == m.options.Name { // nothing else is put there
			return m.takeLease(l, false)
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
		return m.takeLease(l, true)
	}
	return nil // the next look tries again
}

// errWentBack is why a replica ends that has seen what the cluster never had.
var errWentBack = errors.New("the cluster's past came back: who serves what is to be found out anew")

// takeLease takes in the installation's Lease, unless a newer one is known. now is true if the API
// server has just returned it.
func (m *Member) takeLease(l *coordinationv1.Lease, now bool) error {
	if m.newest != nil && m.newest.UID == l.UID {
		c, err := resourceversion.CompareResourceVersion(l.ResourceVersion, m.newest.ResourceVersion)
		if err == nil && c < 0 && now {
			return errWentBack
		} else if err == nil && c <= 0 {
			return nil
		}
	}
	m.newest = l
	m.observeRenewal(l)
	if m.pending != nil && (m.base == nil || m.base.UID != l.UID || m.base.ResourceVersion != l.ResourceVersion) {
		m.pending = nil // what it would replace is replaced
	}
	return nil
}

// observeRenewal records when a Lease was seen to be renewed, and returns that.
func (m *Member) observeRenewal(l *coordinationv1.Lease) time.Time {
	version := string(l.UID) + l.ResourceVersion
	if m.seen[l.Name].version != version {
		m.seen[l.Name] = observation{version, time.Now()}
	}
	return m.seen[l.Name].at
}

// hasExpired reports whether a Lease was not renewed for as long as it lasts, as far as was seen.
func (m *Member) hasExpired(l *coordinationv1.Lease) bool {
	lasts := time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second
	return ptr.Deref(l.Spec.HolderIdentity, "") == "" || time.Since(m.observeRenewal(l)) >= lasts
}

// isLeaseFree reports whether the installation's Lease may be taken for the replicas. If somebody
// deleted it, what others do by it has to end first.
func (m *Member) isLeaseFree() bool {
	if m.newest == nil {
		return time.Since(m.deleted) > settles
	}
	return m.hasExpired(m.newest)
}

// presentDivision returns what the installation's Lease says. isOurs is false while it is not held for
// the replicas, and then nobody serves anything.
func (m *Member) presentDivision() (d Division, isOurs bool) {
	if m.newest == nil {
		return New(m.options.Buckets), false
	}
	d, ok := Parse(m.newest.Annotations[api.AnnotationDivision])
	if isOurs = ok && ptr.Deref(m.newest.Spec.HolderIdentity, "") == Holder; !ok {
		d = New(m.options.Buckets)
	}
	return d, isOurs
}

// currentView returns what is known now. Leases that were not renewed in time are deleted.
func (m *Member) currentView(ctx context.Context, d Division) view {
	v := view{self: m.self, division: d, pending: m.pending, alive: map[string]bool{}, gone: maps.Clone(m.gone), buckets: m.options.Buckets}
	m.mu.Lock()
	if d.Leader != m.self { // what an earlier term decided is out of date
		clear(m.exclusive)
	}
	v.exclusive, v.isEnding = maps.Clone(m.exclusive), m.isEnding
	m.mu.Unlock()
	present := d.Digest()
	for _, l := range m.replicaLeases() {
		if l.Name != m.self && (!m.hasExpired(l) || !m.delete(ctx, l)) {
			v.alive[l.Name] = l.Annotations[api.AnnotationDivision] == present
		}
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
func (m *Member) write(ctx context.Context, d Division, isEnding bool) error {
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
	if d.Leader == "" && !d.isOwned() && isEnding {
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
		return m.takeLease(answer, true)
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err):
		m.pending = nil
		return m.read(ctx)
	}
	m.options.Log.Info("the division was not written", "error", err.Error())
	return nil
}
