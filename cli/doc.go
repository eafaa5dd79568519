// Package cli is the command line: subcommands that are thin over the engine's
// own functions. Results go to stdout, trouble to stderr. With the build tag
// operator, as in the image, it has only run and version.
//
// Without it, users lose the commands `jacquard adopt`, `jacquard approve`, `jacquard
// diff`, `jacquard eject`, `jacquard explain`, `jacquard history`, `jacquard lint`,
// `jacquard lsp`, `jacquard new`, `jacquard pack`, `jacquard pull`, `jacquard push`,
// `jacquard rbac`, `jacquard render`, `jacquard rollback`, `jacquard run`, `jacquard
// schemas`, `jacquard status`, `jacquard sweep`, `jacquard test`, `jacquard tree`,
// `jacquard ui` and `jacquard version`; all text and JSON that they print.
package cli
