package apply

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"
)

// requestLimit is how long the server may take over one request before it
// counts as lost.
const requestLimit = time.Minute

// send sends one request, bounded in time. What the server refuses comes back as
// a Refusal, without values of the document that was sent.
func send[T any](ctx context.Context, document map[string]any, request func(context.Context) (T, error)) (answer T, err error) {
	var wanted time.Duration
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, retryAfter{}, &wanted), requestLimit)
	defer cancel()
	if answer, err = request(ctx); err == nil {
		return answer, nil
	}
	var none T // clients return an empty object beside some errors
	refusal := classify(err, document)
	refusal.RetryAfter = max(refusal.RetryAfter, wanted)
	return none, refusal
}

// retryAfter is the key under which a context has where once notes how long the
// server wants to be left alone, a *time.Duration.
type retryAfter struct{}

// once is a transport that has each request sent once. client-go would send it
// again, up to ten times, as soon as the header Retry-After allows, and hold the
// resource's turn meanwhile. When to try again is the caller's to say.
type once struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (o once) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := o.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if wanted, ok := r.Context().Value(retryAfter{}).(*time.Duration); ok {
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		*wanted = time.Duration(seconds) * time.Second
	}
	answer.Header.Del("Retry-After")
	return answer, nil
}

// sentOnce is a client whose requests are sent once.
func sentOnce(of *http.Client) *http.Client {
	client := *of
	client.Transport = once{cmp.Or(of.Transport, http.DefaultTransport)}
	return &client
}
