// Package lsp is a language server for folders of templates: what an editor asks while
// somebody writes a kind.
//
// It has no analysis of its own. Findings are those of author/lint, types those that
// author/typecheck finds, and a preview is rendered as jacquard render does,
// under the same bounds. Nothing is downloaded or run.
//
// # What a keystroke costs
//
// A change of a template is checked twice. At once, the file alone: reduce.go makes a
// folder of it, the partials that it calls, and a stub for each file that it names, so
// the work does not grow with the folder. When nothing was typed for a moment, the whole
// kind, as jacquard lint does: what other files, examples and golden cases show. Until
// then, findings of the last whole check stay where their lines went (check.go).
//
// # Broken text
//
// Half-typed text does not parse. mend.go blanks the actions that are broken, and closes
// those that are open, without moving the rest. Types in it are those that the followed
// templates show (look.go). In the YAML between the actions, scan.go finds the path of
// keys by their indentation.
//
// Without it, users lose findings while they type, completion, hover, definitions,
// renaming and a live preview in an editor.
package lsp
