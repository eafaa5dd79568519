// Package kinds decides what becomes of a kind. The desired state of a kind is a single value,
// [Desired], which [Decide] computes from everything that is known about the folder, the CRD and
// its record, the claims, the Lease and the revisions. It is pure: it reads no clock, starts no
// goroutine and sends no request.
//
// Without it, users lose the reason why a kind is served as it is, in one place.
package kinds
