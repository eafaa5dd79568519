package transport

import (
	"context"
	"net/http"
	"time"
)

// A Gate returns an error if a request may not be sent now, and otherwise how long it may take; 0
// means that it has no limit of its own.
type Gate func() (time.Duration, error)

// gateKey is the key under which a context has a Gate.
type gateKey struct{}

// WithGate returns a context for requests that ask the gate again once it is their turn.
func WithGate(ctx context.Context, gate Gate) context.Context {
	return context.WithValue(ctx, gateKey{}, gate)
}

// passGate returns the request as it may be sent now.
func passGate(r *http.Request) (*http.Request, error) {
	gate, found := r.Context().Value(gateKey{}).(Gate)
	if !found {
		return r, nil
	}
	most, err := gate()
	if err != nil || most == 0 {
		return r, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), most)
	time.AfterFunc(most, cancel)
	return r.WithContext(ctx), nil
}
