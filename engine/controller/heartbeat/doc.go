// Package heartbeat is what the operator that leads says of itself: in the
// annotation jacquard.dev/report of a Lease in its own namespace, as JSON. It is
// a Lease since the operator may write Leases anyway, and must not be able to
// write ConfigMaps there: these hold folders, which are code.
//
// Without it, users lose `jacquard status` without access to the Pod.
package heartbeat
