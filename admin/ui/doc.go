// Package ui serves a web interface to a cluster on the loopback interface, with the
// rights of the person who starts it.
//
// What it keeps out, and by what:
//   - other users of the machine, and other pages that run in the browser: a token in the
//     address that is printed becomes a cookie once, and everything but the page's own
//     files needs this cookie (Guard)
//   - pages whose name is made to mean this machine (DNS rebinding): the header Host must
//     be one of this server's own
//   - requests that other pages send: the origin must be this server's, and the requests
//     of the page have a header that other pages cannot set without being asked first
//   - text from the cluster that is meant to be HTML: a Content-Security-Policy without
//     inline script, and trusted types
package ui
