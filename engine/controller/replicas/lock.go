package replicas

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Lock is the Lease of one replica, which client-go's leader election renews. It is made
// under a name that nobody had, and is deleted when it is released: whoever finds
// it gone knows that the replica writes no more under that name. A replica that lost its Lease
// renews it if it is still there, and makes another one otherwise. Each renewal
// reports how the replica is, and confirms the division that it has seen.
type Lock struct {
	leases   coordinationclient.LeaseInterface
	prefix   string
	identity string
	labels   map[string]string
	report   func() string
	seen     func() string
	lease    *coordinationv1.Lease // as last read or written; nil before it was made
	name     atomic.Value          // its name, for other goroutines
	holds    bool                  // it was acquired, and has not been lost since
}

var _ resourcelock.Interface = &Lock{}

// errLost is why a replica serves nothing any more whose Lease is gone.
var errLost = errors.New("the Lease of this replica is gone: another replica took it for dead")

// NewLock returns the Lock of one replica. host begins the names of its Leases, report returns what
// the replica reports of itself, and seen the digest of the division that it has seen.
func NewLock(leases coordinationclient.LeaseInterface, host string, labels map[string]string, report, seen func() string) *Lock {
	return &Lock{leases: leases, prefix: host, identity: host + "_" + string(uuid.NewUUID()), labels: labels, report: report, seen: seen}
}

// Name returns the name of the Lease, or "" before it was made.
func (l *Lock) Name() string {
	name, _ := l.name.Load().(string)
	return name
}

// Identity is the holder of the Lease.
func (l *Lock) Identity() string { return l.identity }

// Describe names the Lease in the log.
func (l *Lock) Describe() string { return "the Lease of replica " + l.prefix }

// BecameLeader is the event by which client-go tells a lock that it was acquired.
const BecameLeader = "became leader"

// RecordEvent takes in whether the Lease is held.
func (l *Lock) RecordEvent(what string) { l.holds = what == BecameLeader }

// Get reads the Lease; before it is made there is nothing to read.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if l.lease == nil {
		return nil, nil, apierrors.NewNotFound(coordinationv1.Resource("leases"), l.prefix)
	}
	found, err := l.leases.Get(ctx, l.lease.Name, metav1.GetOptions{})
	if err != nil {
		return nil, nil, err
	}
	l.lease = found
	record := resourcelock.LeaseSpecToLeaderElectionRecord(&found.Spec)
	text, err := json.Marshal(record)
	return record, text, err
}

// Create makes the Lease. Each attempt has another name, since one without answer may have
// made a Lease that others took for this replica, and for dead.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if l.lease != nil && l.holds {
		return errLost
	}
	made := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: l.prefix + "-" + utilrand.String(5), Labels: l.labels},
		Spec: resourcelock.LeaderElectionRecordToLeaseSpec(&record)}
	l.setAnnotations(made)
	answer, err := l.leases.Create(ctx, made, metav1.CreateOptions{})
	if err == nil {
		l.lease = answer
		l.name.Store(answer.Name)
	}
	return err
}

// Update renews the Lease, or deletes it, which is how it is released.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if l.lease == nil {
		return errLost
	}
	if record.HolderIdentity == "" {
		return l.leases.Delete(ctx, l.lease.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &l.lease.UID}})
	}
	renewed := l.lease.DeepCopy()
	renewed.Spec = resourcelock.LeaderElectionRecordToLeaseSpec(&record)
	l.setAnnotations(renewed)
	answer, err := l.leases.Update(ctx, renewed, metav1.UpdateOptions{})
	if err == nil {
		l.lease = answer
	}
	return err
}

// setAnnotations sets what the replica reports, and the division that it confirms.
func (l *Lock) setAnnotations(on *coordinationv1.Lease) {
	metav1.SetMetaDataAnnotation(&on.ObjectMeta, api.AnnotationReplica, l.report())
	metav1.SetMetaDataAnnotation(&on.ObjectMeta, api.AnnotationDivision, l.seen())
}
