// Package ui serves a web interface to a cluster on the loopback interface, with the
// rights of the person who starts it.
//
// What it keeps out, and by what:
//   - other users of the machine, and other pages that run in the browser: the token in the
//     address that is printed is exchanged once for the secret of the session, which the
//     page keeps in the localStorage of its origin (host and port), and everything but the
//     page's own files needs this secret in a header (Guard)
//   - pages whose name is made to mean this machine (DNS rebinding): the header Host must
//     be one of this server's own
//   - requests that other pages send: the origin must be this server's, and the requests
//     of the page have a header that other pages cannot set without a preflight request
//   - text from the cluster that is meant to be HTML: a Content-Security-Policy without
//     inline script, and trusted types
//
// Without it, users lose the page of `jacquard ui`.
package ui
