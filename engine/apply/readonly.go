package apply

// errReadOnly is the answer of a Writer that writes nothing.
var errReadOnly error = &Refusal{Cause: Forbidden, Text: "the operator is read-only: nothing is written"}

// errNotLeading is the answer of a Writer of an operator that may lead no more.
var errNotLeading error = &Refusal{Cause: TryAgain, Text: "the Lease was not renewed in time: another operator may lead by now"}

// ReadOnly returns a Writer that sends no write, not even as a dry run: each is
// answered by errReadOnly. It reads.
func (w *Writer) ReadOnly() *Writer {
	return w.barredBy(func() error { return errReadOnly })
}

// While returns a Writer that sends a write only if leads says so just before.
func (w *Writer) While(leads func() bool) *Writer {
	return w.barredBy(func() error {
		if leads() {
			return nil
		}
		return errNotLeading
	})
}

func (w *Writer) barredBy(why func() error) *Writer {
	barred := *w
	barred.barred = why
	if w.accounts != nil {
		barred.accounts = &accounts{cfg: w.accounts.cfg, writers: map[string]*Writer{}, dry: w.dry, barred: why}
	}
	return &barred
}

// bar says why no write may be sent now.
func (w *Writer) bar() error {
	if w.barred == nil {
		return nil
	}
	return w.barred()
}
