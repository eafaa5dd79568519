package replicas

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/api"
	division "github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A written request is one of the audit log that changed something.
type written struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource, Subresource, Namespace, Name string
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	// Received is when the API server got it, and Done when it had answered: in between
	// it took effect.
	Received time.Time `json:"requestReceivedTimestamp"`
	Done     time.Time `json:"stageTimestamp"`
}

// written returns what was written since a moment, by the audit log.
func (f *fleet) written(since time.Time) (all []written) {
	f.Helper()
	file, err := os.Open(filepath.Join(f.cluster.Dir, "audit.log"))
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var w written
		if json.Unmarshal(lines.Bytes(), &w) != nil || w.Received.Before(since) || w.ResponseStatus.Code >= 300 {
			continue
		}
		switch w.Verb {
		case "create", "update", "patch", "delete":
			all = append(all, w)
		}
	}
	if err := lines.Err(); err != nil {
		f.Fatal(err)
	}
	return all
}

// A timeline is what the installation's Lease said, one division after the other.
type timeline struct {
	mu   sync.Mutex
	eras []era
}

// An era is the time in which a division held: it began between first, when it was about
// to be sent, and last, when it was seen.
type era struct {
	division.Division
	first, last time.Time
}

// watchDivision follows the installation's Lease, from before it is made.
func (f *fleet) watchDivision() *timeline {
	f.Helper()
	l := &timeline{}
	client, err := kubernetes.NewForConfig(f.cluster.Config)
	if err != nil {
		f.Fatal(err)
	}
	note := func(o any) {
		lease, is := o.(*coordinationv1.Lease)
		if !is {
			return
		}
		d, ok := division.Parse(lease.Annotations[api.AnnotationDivision])
		if !ok {
			f.Errorf("the Lease says %q", lease.Annotations[api.AnnotationDivision])
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.eras = append(l.eras, era{d, lease.Spec.RenewTime.Time, time.Now()})
	}
	only := func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, api.Lease(f.identity())).String()
	}
	source := cache.NewFilteredListWatchFromClient(client.CoordinationV1().RESTClient(), "leases", f.home, only)
	informer := cache.NewSharedInformer(source, &coordinationv1.Lease{}, 0)
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: note, UpdateFunc: func(_, o any) { note(o) }}); err != nil {
		f.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	f.Cleanup(stop)
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(f.Context().Done(), informer.HasSynced) {
		f.Fatal("the Lease is not watched")
	}
	return l
}

// accounts are those of replicas, by the names of their Leases.
func (f *fleet) accounts(log []written) map[string]string {
	all := map[string]string{}
	for _, w := range log {
		if o := w.ObjectRef; o.Resource == "leases" && o.Namespace == f.home && o.Name != api.Lease(f.identity()) && w.Verb == "update" {
			all[o.Name] = w.User.Username
		}
	}
	return all
}

// during are the eras in which a request may have taken effect.
func during(eras []era, w written) (all []era) {
	for i, e := range eras {
		if e.first.After(w.Done) || i+1 < len(eras) && eras[i+1].last.Before(w.Received) {
			continue
		}
		all = append(all, e)
	}
	return all
}

// settled waits until a timeline has all changes.
func (f *fleet) settled(l *timeline) {
	f.Helper()
	kit.Eventually(f.T, "all changes of the Lease are seen", func() error {
		d, err := f.division()
		if err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.eras) == 0 || l.eras[len(l.eras)-1].String() != d.String() {
			return os.ErrNotExist
		}
		return nil
	})
}

var _ testing.TB = &fleet{}
