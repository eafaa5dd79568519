package apply

import (
	"fmt"
	"sync"

	"k8s.io/client-go/rest"
)

// accounts are the Readers that act as service accounts, by namespace/name.
type accounts struct {
	cfg     *rest.Config
	mu      sync.Mutex
	readers map[string]*Reader
}

func newAccounts(cfg *rest.Config) *accounts {
	return &accounts{cfg: rest.CopyConfig(cfg), readers: map[string]*Reader{}}
}

// As returns a Writer that acts as a service account, by impersonation: it can
// do no more than that account.
func (w *Writer) As(namespace, name string) (*Writer, error) {
	reader, err := w.accounts.readerOf(namespace, name)
	if err != nil {
		return nil, fmt.Errorf("acting as service account %s/%s: %w", namespace, name, err)
	}
	return &Writer{Reader: reader, mode: w.mode, accounts: w.accounts}, nil
}

func (a *accounts) readerOf(namespace, name string) (*Reader, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := namespace + "/" + name
	if reader := a.readers[key]; reader != nil {
		return reader, nil
	}
	cfg := rest.CopyConfig(a.cfg)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + name}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	reader, err := newReader(cfg, client)
	if err == nil {
		a.readers[key] = reader
	}
	return reader, err
}
