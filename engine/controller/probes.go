package controller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// A Readiness says which folders must have loaded for the process to be ready.
type Readiness string

const (
	// ReadyAll: all of them.
	ReadyAll Readiness = "all"
	// ReadyRelease: those that came with the operator, in its roots and its
	// release. What others add later has no veto on its upgrades.
	ReadyRelease Readiness = "release"
	// ReadyNone: the process is ready once it has read what there is.
	ReadyNone Readiness = "none"
)

// checkValue returns an error if it is none of these.
func (r Readiness) checkValue() error {
	switch r {
	case ReadyAll, ReadyRelease, ReadyNone:
		return nil
	}
	return fmt.Errorf("which folders must have loaded is %s, %s or %s, not %q", ReadyAll, ReadyRelease, ReadyNone, string(r))
}

// Ready says why this process is not ready: what it has not read yet, that it cannot watch
// CRDs or the ConfigMaps of folders any more, and which
// of the folders that it waits for has not loaded since the start. One that
// loaded once stays ready: its last good version runs. Followers load folders
// too, so that a rolling update keeps the old Pod until the new one can take
// over. A folder whose CRD is not there holds nobody up.
func (o *Operator) Ready() error {
	keeps, _ := o.findUnready()
	return keeps
}

// findUnready returns what keeps the process from being ready, and what is wrong besides.
// Trouble with a kind of resources or children is neither.
func (o *Operator) findUnready() (keeps, others error) {
	keeps, others = o.findUnloaded()
	if o.bases != nil { // nil in a process that watches nothing
		keeps = errors.Join(o.bases.joinFailures(), keeps)
	}
	return keeps, others
}

// findUnloaded returns which roots cannot be read and which folders have not loaded since the
// start: those that keep the process from being ready, and the others.
func (o *Operator) findUnloaded() (keeps, others error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.mapsRead {
		return fmt.Errorf("the ConfigMaps of namespace %s that hold folders have not been listed yet", o.options.Namespace), nil
	}
	if !o.read || !o.listed {
		return errors.New("the folders and CRDs have not been read yet"), nil
	}
	for _, m := range o.sources.roots.Missing {
		err := fmt.Errorf("%s cannot be read: %w", m.Root, m.Err)
		if m.NeverRead && o.options.Ready != ReadyNone {
			keeps = errors.Join(keeps, err)
		} else {
			others = errors.Join(others, err)
		}
	}
	for _, name := range o.kindsWithFolder() {
		k := o.kinds[name]
		if k.crd == nil || !isEstablished(k.crd) || k.loaded {
			continue
		}
		err := k.report.trouble
		if err == nil {
			err = fmt.Errorf("templates/%s has not been loaded yet", name)
		}
		if o.options.Ready == ReadyAll || o.options.Ready == ReadyRelease && k.source.brought {
			keeps = errors.Join(keeps, err)
		} else {
			others = errors.Join(others, err)
		}
	}
	return keeps, others
}

// serveProbes answers /healthz and /readyz. It says what is wrong, which the
// probes of controller-runtime withhold: nothing of a resource is in it.
func (o *Operator) serveProbes() error {
	if o.options.ProbeAddress == "0" {
		return nil
	}
	at, err := net.Listen("tcp", o.options.ProbeAddress)
	if err != nil {
		return fmt.Errorf("serving the probes: %w", err)
	}
	return o.mgr.Add(&manager.Server{Name: "probes", Listener: at, Server: &http.Server{
		Handler: o.probeHandler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 90 * time.Second,
	}})
}

// lockPatience is for how long the state may be locked before the process counts as hung.
const lockPatience = 5 * time.Second

// canProceed reports whether the state of the process can be locked within the patience.
// If not, a goroutine holds the lock that does not go on, and only a restart helps.
func (o *Operator) canProceed(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for !o.mu.TryLock() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	o.mu.Unlock()
	return true
}

// probeHandler returns the handler of the probes.
func (o *Operator) probeHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		if !o.canProceed(r.Context()) {
			http.Error(w, "the state of the operator is locked: it is restarted if that lasts", http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err := o.Ready(); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, "not ready:\n%v\n", err)
		} else {
			fmt.Fprintln(w, "ok")
		}
		if unlisted := o.troubles.allUnlisted(); unlisted != "" {
			fmt.Fprintf(w, "cannot be listed or watched now, which keeps no other kind from being served:\n%s", unlisted)
		}
		if _, others := o.findUnready(); others != nil && r.URL.Query().Has("verbose") {
			fmt.Fprintf(w, "not loaded, which keeps nothing else from being served:\n%v\n", others)
		}
	})
	return mux
}
