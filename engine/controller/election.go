package controller

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
)

// newLeaseLock returns the lock of an installation of which one process serves all resources.
func (o Options) newLeaseLock(election *rest.Config) (resourcelock.Interface, error) {
	leases, err := coordinationclient.NewForConfig(election)
	if err != nil {
		return nil, fmt.Errorf("making a client of Leases: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("asking for the name of this host: %w", err)
	}
	return &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: o.leaseNamespace(), Name: api.Lease(o.Identity)},
		Client: leases, LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}}, nil
}

// holdLease has this process serve while it holds its Lease, until ctx ends and nothing is under
// way any more. When it cannot renew the Lease, as when the API server does not answer, it serves
// nothing, keeps its caches and asks for the Lease again.
func (m *membership) holdLease(ctx context.Context) error {
	if m.election == nil {
		m.beginLeading()
		return nil
	}
	logger := log.FromContext(ctx)
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	go func() {
		<-ctx.Done()
		<-m.ended
		release()
	}()
	for {
		err := m.holdOnce(holding, logger)
		switch {
		case holding.Err() != nil:
			m.releaseLease(logger)
			return nil
		case err != nil:
			return err
		case ctx.Err() == nil:
			logger.Info("the Lease could not be renewed: this process serves nothing until it can be")
		}
		m.inFlight.setShare(replicas.Share{})
		metrics.Leads(false)
		m.addKnown()
	}
}

// holdOnce acquires the Lease, and has this process serve until it is lost or ctx ends. An error
// is what ends the process.
func (m *membership) holdOnce(ctx context.Context, logger logr.Logger) (err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	lock, served := &notedLock{Interface: m.election}, make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: m.options.Lease.Duration, RenewDeadline: m.options.Lease.RenewDeadline,
		RetryPeriod: m.options.Lease.RetryPeriod, Name: api.Lease(m.options.Identity),
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				defer close(served)
				logger.Info("this process holds its Lease")
				if err = m.serveWhile(log.IntoContext(ctx, logger)); err != nil {
					end()
				}
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("electing a leader: %w", err)
	}
	elector.Run(klog.NewContext(ctx, logr.Discard())) // the log tells each change once
	if lock.wasAcquired {
		<-served
	}
	return err
}

// serveWhile serves until ctx ends.
func (m *membership) serveWhile(ctx context.Context) error {
	m.lists.wakeWatches()
	if m.dividesResources() {
		return m.member.Run(ctx, m.lock.Name())
	}
	m.beginLeading()
	<-ctx.Done()
	return nil
}

// beginLeading serves all resources from now on.
func (m *membership) beginLeading() {
	metrics.Leads(true)
	m.leadsSince.Store(time.Now().UnixNano())
	m.inFlight.setShare(replicas.All())
	m.addKnown()
}

// releaseLease gives the Lease to whoever wants it, if this process still holds it.
func (m *membership) releaseLease(logger logr.Logger) {
	ctx, end := context.WithTimeout(context.Background(), leaveLimit)
	defer end()
	record, _, err := m.election.Get(ctx)
	if err != nil || record.HolderIdentity != m.election.Identity() {
		return
	}
	now := metav1.Now()
	released := resourcelock.LeaderElectionRecord{LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: now,
		AcquireTime: now}
	if err := m.election.Update(ctx, released); err != nil {
		logger.Info("the Lease is not given back; others wait until it is over", "error", err.Error())
		return
	}
	logger.Info("the Lease is given back")
}

// A notedLock notes that client-go has acquired it.
type notedLock struct {
	resourcelock.Interface
	wasAcquired bool
}

// RecordEvent implements [resourcelock.Interface]. The elector calls it in its own goroutine.
func (l *notedLock) RecordEvent(what string) {
	l.wasAcquired = l.wasAcquired || what == replicas.BecameLeader
	l.Interface.RecordEvent(what)
}
