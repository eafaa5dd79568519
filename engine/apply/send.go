package apply

import (
	"context"
	"time"

	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// requestLimit is how long the server may take over one request before it
// counts as lost.
const requestLimit = time.Minute

// sendRequest sends one request, bounded in time. What the server refuses comes back as
// a Refusal, without values of the document that was sent.
func sendRequest[T any](ctx context.Context, document map[string]any, request func(context.Context) (T, error)) (answer T, err error) {
	var wanted time.Duration
	ctx, cancel := context.WithTimeout(transport.WithRetryAfter(ctx, &wanted), requestLimit)
	defer cancel()
	if answer, err = request(ctx); err == nil {
		return answer, nil
	}
	var none T // clients return an empty object beside some errors
	refusal := refusals.ClassifyWrite(err, document)
	refusal.RetryAfter = max(refusal.RetryAfter, wanted)
	return none, refusal
}
