package apply

import (
	"context"
	"net/http"
	"time"
)

// errReadOnly is the answer of a Writer that writes nothing.
var errReadOnly error = &Refusal{Cause: Forbidden, Text: "the operator is read-only: nothing is written"}

// errNotLeading is the answer of a Writer of an operator that may lead no more.
var errNotLeading error = &Refusal{Cause: TryAgain, Text: "the Lease was not renewed in time: another operator may lead by now"}

// ReadOnly returns a Writer that sends no write, not even as a dry run: each is
// answered by errReadOnly. It reads.
func (w *Writer) ReadOnly() *Writer {
	return w.barredBy(func() (time.Duration, error) { return 0, errReadOnly })
}

// While returns a Writer that sends a write only if there is time left directly before,
// and waits for the answer no longer than that. left says how much there is, and whether
// a request has to end with it.
func (w *Writer) While(left func() (time.Duration, bool)) *Writer {
	return w.barredBy(func() (time.Duration, error) {
		most, ends := left()
		switch {
		case most <= 0:
			return 0, errNotLeading
		case !ends:
			most = 0
		}
		return most, nil
	})
}

// A bar says why no write may be sent now, or how long one may take; 0: as long as it
// likes.
type bar func() (time.Duration, error)

func (w *Writer) barredBy(why bar) *Writer {
	barred := *w
	barred.barred = why
	if w.accounts != nil {
		barred.accounts = &accounts{cfg: w.accounts.cfg, writers: map[string]*Writer{}, dry: w.dry, barred: why}
	}
	return &barred
}

// barKey is the key under which a context has the bar of a write, which is asked again
// when the request's turn has come.
type barKey struct{}

// bar says why no write may be sent now.
func (w *Writer) bar(ctx context.Context) (context.Context, error) {
	if w.barred == nil {
		return ctx, nil
	}
	_, err := w.barred()
	return context.WithValue(ctx, barKey{}, w.barred), err
}

// barred is the request as it may be sent now.
func barred(r *http.Request) (*http.Request, error) {
	why, is := r.Context().Value(barKey{}).(bar)
	if !is {
		return r, nil
	}
	most, err := why()
	if err != nil || most == 0 {
		return r, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), most)
	time.AfterFunc(most, cancel)
	return r.WithContext(ctx), nil
}
