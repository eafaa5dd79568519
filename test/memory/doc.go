// Package memory is an API server in memory, for tests of what the operator
// decides: milliseconds instead of the seconds of a real one.
//
// It serves discovery, objects, their metadata, lists by label, server-side apply
// with field owners, merge and JSON patches, status, finalizers and deletion with
// preconditions. Field owners are those of the API server's own code; of schemas,
// admission, defaulting and watches it knows nothing, and it collects no garbage.
// What needs these is tested against a real API server, in test/integration.
package memory
