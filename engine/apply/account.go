package apply

import (
	"fmt"
	"sync"

	"k8s.io/client-go/rest"
)

// accounts are the Writers that act as service accounts, by namespace/name.
type accounts struct {
	cfg     *rest.Config
	mu      sync.Mutex
	writers map[string]*Writer
	// dry: their writes are dry runs; barred: as of a Writer.
	dry    bool
	barred bar
}

// As returns a Writer that acts as a service account, by impersonation: it can
// do no more than that account.
func (w *Writer) As(namespace, name string) (*Writer, error) {
	a := w.accounts
	a.mu.Lock()
	defer a.mu.Unlock()
	key := namespace + "/" + name
	if one := a.writers[key]; one != nil {
		return one, nil
	}
	cfg := rest.CopyConfig(a.cfg)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + name}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("acting as service account %s: %w", key, err)
	}
	one, err := newWriter(cfg, client)
	if err != nil {
		return nil, fmt.Errorf("acting as service account %s: %w", key, err)
	}
	one.dry, one.barred = a.dry, a.barred
	a.writers[key] = one
	return one, nil
}
