// Package transport makes every client of the API server send a request once, for a limited
// time, and beside a limited number of others.
//
// client-go sends a request up to ten times: when the answer has the header Retry-After,
// and when the connection of a GET breaks. It says so to nobody. An API server whose
// cache of one kind is not ready answers Retry-After: 30, so that a caller hangs for
// minutes. With a configuration of this package the first answer reaches the caller,
// who decides whether, and when, to try again.
//
// Without it, users lose answers in time from every other kind and command, when the
// API server refuses or delays the requests about one kind.
package transport
