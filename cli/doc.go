// Package cli is the command line: subcommands that are thin over the engine's
// own functions. Results go to stdout, trouble to stderr.
package cli
