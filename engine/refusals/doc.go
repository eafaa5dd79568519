// Package refusals finds out what the API server means by refusing a write: what to do about it,
// which fields are refused, where the document has them, and which permission is missing. It sends
// nothing, and no value of a document is in any of its texts.
//
// Without it, users lose errors that name the field, the rule or the remedy, and Secrets end up in
// messages.
package refusals
