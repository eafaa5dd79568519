// Package refusals is a table of ways in which the API server refuses a child, with
// what it really answered, and what a person is to read then.
//
// rows.yaml is written by hand. recorded/ is written by the recorder, which
// provokes each row on a real API server:
//
//	go test ./test/integration/faults -run TestRecordRefusals -update
package refusals
