// Package explain says why a resource has the children that it has: for every
// file of its kind which branches were taken and which not and what their
// conditions came to, what waits for what, which documents that made and which
// were left out by which branch; and, where live objects are known, when each
// was last applied, whether it is ready, and who else owns which of its fields.
//
// It is pure: it tells what a traced render (TraceRender) and live objects say.
// Reports hold no texts of the resource and nothing of a Secret.
//
// Without it, users lose the reason why a child is there.
package explain
