package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Configure returns a copy of cfg. Its clients send each request once. A request that
// is not a watch ends after limit, with its answer read or not.
func Configure(cfg *rest.Config, limit time.Duration) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &sender{next, limit} })
	return cfg
}

// IsWatch reports whether a request lasts until one of the two sides ends it.
func IsWatch(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }

// isWrite reports whether a request changes an object. What is created by POST, such as a
// review of rights, is often kept by nobody.
func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodPost && r.URL.Query().Get("dryRun") == ""
}

// A TimeoutError is why a request ended that got no complete answer in time.
type TimeoutError struct {
	Limit time.Duration
	// IsWrite: it was to change an object, which it may have done.
	IsWrite bool
}

// Error says how long the request was waited for.
func (e *TimeoutError) Error() string {
	text := fmt.Sprintf("the API server gave no answer within %s", e.Limit)
	if e.IsWrite {
		text += "; whether it was done is not known"
	}
	return text
}

// A LostError is a connection that broke before the answer came. It does not unwrap
// to its cause, by which client-go would know that it may send the request again.
type LostError struct{ text string }

// Error says that the connection broke.
func (e *LostError) Error() string { return e.text }

// retryAfter is the key under which a context has where sender stores for how long the
// API server wants no further request, a *time.Duration.
type retryAfter struct{}

// WithRetryAfter returns a context for requests. The header Retry-After of their answers
// is stored in wait.
func WithRetryAfter(ctx context.Context, wait *time.Duration) context.Context {
	return context.WithValue(ctx, retryAfter{}, wait)
}

// A sender sends each request once, and for at most limit.
type sender struct {
	next  http.RoundTripper
	limit time.Duration
}

// RoundTrip sends a request.
func (s *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := r.Context(), func() {}
	if !IsWatch(r) {
		ctx, cancel = context.WithTimeoutCause(ctx, s.limit, &TimeoutError{s.limit, isWrite(r)})
	}
	answer, err := s.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		err = preventRepeat(ctx, err)
		cancel()
		return nil, err
	}
	if wait, wanted := ctx.Value(retryAfter{}).(*time.Duration); wanted {
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // "" and a date are 0
		*wait = time.Duration(seconds) * time.Second
	}
	answer.Header.Del("Retry-After")
	answer.Body = &limitedBody{answer.Body, ctx, cancel}
	return answer, nil
}

// WrappedRoundTripper is the transport that sends the requests.
func (s *sender) WrappedRoundTripper() http.RoundTripper { return s.next }

// preventRepeat returns the error of a request as client-go does not send it again for.
func preventRepeat(ctx context.Context, err error) error {
	var timeout *TimeoutError
	switch {
	case errors.As(context.Cause(ctx), &timeout):
		return timeout
	case ctx.Err() != nil:
		return err
	case utilnet.IsConnectionReset(err), utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err):
		return &LostError{"the connection to the API server broke"}
	case utilnet.IsTimeout(err): // client-go repeats a watch for it
		return &LostError{err.Error()}
	}
	return err
}

// A limitedBody is the body of an answer. Its request ends when it is closed.
type limitedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel func()
}

// Read reads a part of the body.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	var timeout *TimeoutError
	if err != nil && !errors.Is(err, io.EOF) && errors.As(context.Cause(b.ctx), &timeout) {
		err = timeout
	}
	return n, err
}

// Close ends the request.
func (b *limitedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
