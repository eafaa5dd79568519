package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// own is the identity of an operator that there is only in a Lease, which the
// test writes.
func (s *site) own() string { return s.namespace + "/own" }

// reports writes the report of that operator, which runs as an account.
func (s *site) reports(account string, kinds ...heartbeat.Kind) {
	s.Helper()
	s.forge(api.ReportLease(s.own()), heartbeat.Report{Identity: s.own(), Lease: "leader", LeaseNamespace: s.namespace,
		Account: "system:serviceaccount:" + s.namespace + ":" + account, Kinds: kinds})
}

// leads writes the leader's Lease: who holds it for so many seconds, and when
// that was renewed. Nobody is "".
func (s *site) leads(holder string, seconds int, renewed time.Time) {
	s.Helper()
	const micro = "2006-01-02T15:04:05.000000Z07:00"
	s.apply(fmt.Sprintf("{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: leader}, spec: {holderIdentity: %q, leaseDurationSeconds: %d, acquireTime: %q, renewTime: %q}}",
		holder, seconds, time.Unix(1e9, 0).UTC().Format(micro), renewed.UTC().Format(micro)))
}

// TestStatusOfLeader: whether somebody leads, as the Lease and the account tell.
func TestStatusOfLeader(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		account string
		lease   func(*site)
		state   verdict.State
		// says is in the text; wrong begins the only problem, if there is one.
		says, wrong string
	}{
		"it leads": {"default", func(s *site) { s.leads("pod-1", 3600, time.Now()) },
			verdict.Leading, "leader: pod-1, for ", ""},
		"its holder is gone": {"default", func(s *site) { s.leads("pod-1", 15, time.Now().Add(-time.Hour)) },
			verdict.LeaseExpired, "leader: none, pod-1 has not renewed the Lease for 60m", "the Lease of the leader is not renewed, since "},
		"it may be gone": {"default", func(s *site) { s.leads("pod-1", 3600, time.Now().Add(-3610*time.Second)) },
			verdict.LeaseOverdue, "leader: pod-1, which has not renewed the Lease for 60m", ""},
		"it was uninstalled": {"away", func(s *site) { s.leads("pod-1", 3600, time.Now()) },
			verdict.Uninstalled, "leader: none, no operator runs: it was uninstalled", "no operator runs: its account system:serviceaccount:"},
		"it was given back": {"default", func(s *site) { s.leads("", 1, time.Now()) },
			verdict.NoLeader, "leader: none, no operator runs\n", "no operator runs"},
		"there is no Lease": {"default", func(*site) {},
			verdict.NoLeader, "leader: none, no operator runs\n", "no operator runs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lay(t, plain)
			s.reports(c.account)
			c.lease(s)
			kit.Eventually(t, "the namespace has its account", func() error {
				_, err := cluster.Get("v1", "ServiceAccount", s.namespace, "default")
				return err
			})
			text := s.as("admin", "status", "--installation", s.own())
			if !strings.Contains(text.stdout, c.says) || text.code == 0 && c.wrong != "" {
				t.Errorf("exit %d, it does not say %q:\n%s", text.code, c.says, text.all())
			}
			a := s.as("admin", "status", "--installation", s.own(), "-o", "json")
			h := &health.Health{}
			if err := json.Unmarshal([]byte(a.stdout), h); err != nil || len(h.Installations) != 1 {
				t.Fatalf("%v: %s", err, a.all())
			}
			if got := h.Installations[0].Leader.State; got != c.state {
				t.Errorf("the leader is %s, want %s", got, c.state)
			}
			about := ""
			for _, p := range h.Problems {
				if text, found := strings.CutPrefix(p, s.own()+": "); found && !strings.Contains(text, "lacks") {
					about += text
				}
			}
			if !strings.HasPrefix(about, c.wrong) || c.wrong == "" && about != "" {
				t.Errorf("the problems are %q, want %q", h.Problems, c.wrong)
			}
		})
	}
}

// TestStatusIsCut: a report that has no place for all kinds says how many are not
// told of.
func TestStatusIsCut(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	left, all := s.reportsTooMuch()
	a := s.as("admin", "status", "--installation", s.own())
	if text := fmt.Sprintf("  … and %d kinds that the report has no place for\n", all-left); !strings.Contains(a.stdout, text) ||
		strings.Count(a.stdout, " CRDMissing ") != left {
		t.Errorf("exit %d, it does not say %q and the %d others:\n%.2000s", a.code, text, left, a.all())
	}
}

// reportsTooMuch writes a report of all kinds, of which it has place for only so
// many.
func (s *site) reportsTooMuch() (left, all int) {
	s.Helper()
	kinds := make([]heartbeat.Kind, 1000)
	for i := range kinds {
		kinds[i] = heartbeat.Kind{Name: fmt.Sprintf("kind%d.example.com", i), State: verdict.CRDMissing, Message: strings.Repeat("x", 500)}
	}
	s.reports("default", kinds...)
	lease, err := cluster.Get("coordination.k8s.io/v1", "Lease", s.namespace, api.ReportLease(s.own()))
	if err != nil {
		s.Fatal(err)
	}
	read, err := heartbeat.Read(lease.GetAnnotations()[api.AnnotationReport])
	if err != nil || read.Cut == 0 {
		s.Fatalf("nothing is cut: %v", err)
	}
	return len(read.Kinds), len(kinds)
}

// TestStatusWatch: it is shown again when something changed, and not when the
// Lease was just renewed, until the command is interrupted.
func TestStatusWatch(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	s.reports("default")
	s.leads("pod-1", 3600, time.Now().Add(-time.Minute))
	w := s.watch("admin", "status", "--watch", "--installation", s.own())
	w.shows("leader: pod-1, for ")
	s.leads("pod-1", 3600, time.Now())
	s.looksAgain()
	s.leads("pod-2", 3600, time.Now())
	w.shows("leader: pod-2, for ")
	s.leads("", 1, time.Now())
	w.shows("leader: none, no operator runs\n")
	if err := w.interrupt(); err != nil {
		t.Errorf("interrupted, it ends with %v", err)
	}
	if n := strings.Count(w.text(), s.own()+"  "); n != 3 {
		t.Errorf("it was shown %d times, want 3:\n%s", n, w.text())
	}
}

// looksAgain waits until the Lease of the leader was read twice from now on: whoever
// reads it again and again has done so, and shown it, between.
func (s *site) looksAgain() {
	s.Helper()
	reads := func() int {
		log, err := os.ReadFile(filepath.Join(cluster.Dir, "audit.log"))
		if err != nil {
			s.Fatal(err)
		}
		return bytes.Count(log, []byte(`"requestURI":"/apis/coordination.k8s.io/v1/namespaces/`+s.namespace+`/leases/leader"`))
	}
	before := reads()
	kit.Eventually(s, "the Lease is read twice", func() error {
		if n := reads() - before; n < 2 {
			return fmt.Errorf("it was read %d times", n)
		}
		return nil
	})
}

// TestEjectWaits: it is waited for, and told, whether somebody renews a Lease that
// is held. A leader whose report was cut may serve the kind.
func TestEjectWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		renewed bool
		code    int
		says    string
	}{
		"nobody renews it": {false, 0, "done: everything of Jacquard was taken off; changed objects: 1\n"},
		"somebody leads":   {true, 1, "runs, and its report has no place for all kinds: stop it first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lay(t, plain)
			s.reportsTooMuch()
			s.annotateCRD(api.AnnotationOperator, s.own())
			s.leads("pod-1", 2, time.Now())
			if c.renewed {
				s.leads("pod-1", 60, time.Now())
				s.renews()
			}
			a := s.as("admin", "eject", s.name(), "--yes")
			if a.code != c.code || !strings.Contains(a.all(), c.says) {
				t.Errorf("exit %d, it does not say %q: %s", a.code, c.says, a.all())
			}
			if waits := "s to see whether pod-1 renews the Lease " + s.namespace + "/leader\n"; strings.Count(a.stderr, "waiting up to ") != 1 ||
				!strings.Contains(a.stderr, waits) {
				t.Errorf("it does not say %q: %s", waits, a.stderr)
			}
			crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", s.name())
			if err != nil || (crd.GetAnnotations()[api.AnnotationOperator] != "") != c.renewed {
				t.Errorf("%v: the CRD is annotated %v", err, crd.GetAnnotations())
			}
		})
	}
}

// renews renews the leader's Lease again and again until the test ends.
func (s *site) renews() {
	s.Helper()
	lease, err := cluster.Get("coordination.k8s.io/v1", "Lease", s.namespace, "leader")
	if err != nil {
		s.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			patch := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00"))
			_ = cluster.Client.Patch(ctx, lease.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch))) // the next one may succeed
			time.Sleep(100 * time.Millisecond)
		}
	}()
	s.Cleanup(func() { stop(); <-ended })
}
