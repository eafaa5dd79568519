// Package controller is the process: it watches folders and CRDs, compiles what
// it finds, and runs one Reconciler with its own queue and workers for every
// kind that has both. Kinds come and go while it runs; a folder that does not
// load leaves the last good version running.
//
// Without it, users lose kinds that come and go without a restart.
package controller
