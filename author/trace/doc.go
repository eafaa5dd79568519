// Package trace records which way the templates of a kind take for one resource: which
// branches they come to, what their conditions come to, and which of them wrote a
// document.
//
// It is pure: Branches lists what the text has, and a Recorder is the Tracer of one
// rendering ([template.Rendering.Trace]). Nothing that it keeps shows a text of the
// resource or anything of a Secret.
//
// Without it, users lose the reason why a child is there, and what the cases of a folder
// cover.
package trace
