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
func (o *Operator) holdLease(ctx context.Context) error {
	if o.election == nil {
		o.beginLeading()
		return nil
	}
	logger := log.FromContext(ctx)
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	go func() {
		<-ctx.Done()
		<-o.ended
		release()
	}()
	for {
		err := o.holdOnce(holding, logger)
		switch {
		case holding.Err() != nil:
			o.releaseLease(logger)
			return nil
		case err != nil:
			return err
		case ctx.Err() == nil:
			logger.Info("the Lease could not be renewed: this process serves nothing until it can be")
		}
		o.inFlight.setShare(replicas.Share{})
		metrics.Leads(false)
		o.addKnown()
	}
}

// holdOnce acquires the Lease, and has this process serve until it is lost or ctx ends. An error
// is what ends the process.
func (o *Operator) holdOnce(ctx context.Context, logger logr.Logger) (err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	lock, served := &notedLock{Interface: o.election}, make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: o.options.Lease.Duration, RenewDeadline: o.options.Lease.RenewDeadline,
		RetryPeriod: o.options.Lease.RetryPeriod, Name: api.Lease(o.options.Identity),
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				defer close(served)
				logger.Info("this process holds its Lease")
				if err = o.serveWhile(log.IntoContext(ctx, logger)); err != nil {
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
func (o *Operator) serveWhile(ctx context.Context) error {
	o.wakeWatches()
	if o.dividesResources() {
		return o.member.Run(ctx, o.lock.Name())
	}
	o.beginLeading()
	<-ctx.Done()
	return nil
}

// beginLeading serves all resources from now on.
func (o *Operator) beginLeading() {
	metrics.Leads(true)
	o.leadsSince.Store(time.Now().UnixNano())
	o.inFlight.setShare(replicas.All())
	o.addKnown()
}

// wakeWatches tries at once what could not be listed or watched: the API server answers again.
func (o *Operator) wakeWatches() {
	o.children.Wake()
	o.reads.Wake()
	for _, c := range o.resourceCaches() {
		c.resources.wakeWatches()
	}
}

// releaseLease gives the Lease to whoever wants it, if this process still holds it.
func (o *Operator) releaseLease(logger logr.Logger) {
	ctx, end := context.WithTimeout(context.Background(), leaveLimit)
	defer end()
	record, _, err := o.election.Get(ctx)
	if err != nil || record.HolderIdentity != o.election.Identity() {
		return
	}
	now := metav1.Now()
	released := resourcelock.LeaderElectionRecord{LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: now,
		AcquireTime: now}
	if err := o.election.Update(ctx, released); err != nil {
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
