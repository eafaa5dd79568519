package apply

import "errors"

// errReadOnly is the answer of a Writer that writes nothing.
var errReadOnly = errors.New("the operator is read-only: nothing is written")

// ReadOnly returns a Writer that sends no write, not even as a dry run: each is
// answered by errReadOnly. It reads.
func (w *Writer) ReadOnly() *Writer {
	locked := *w
	locked.locked = true
	if w.accounts != nil {
		locked.accounts = &accounts{cfg: w.accounts.cfg, writers: map[string]*Writer{}, dry: w.dry, locked: true}
	}
	return &locked
}
