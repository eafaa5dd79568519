package controller

import (
	"sync/atomic"

	"github.com/go-logr/logr"
)

// An ending is a log that takes what belongs to an end which was asked for as no
// error: who is told to end gives its Lease back, and controller-runtime calls
// that "leader election lost".
type ending struct {
	logr.LogSink
	ends *atomic.Bool
}

func (e ending) Error(err error, msg string, pairs ...any) {
	if e.ends.Load() && err != nil && err.Error() == "leader election lost" {
		e.LogSink.Info(0, "the Lease is given back", pairs...)
		return
	}
	e.LogSink.Error(err, msg, pairs...)
}

// WithValues implements [logr.LogSink].
func (e ending) WithValues(pairs ...any) logr.LogSink {
	return ending{e.LogSink.WithValues(pairs...), e.ends}
}

// WithName implements [logr.LogSink].
func (e ending) WithName(name string) logr.LogSink { return ending{e.LogSink.WithName(name), e.ends} }
