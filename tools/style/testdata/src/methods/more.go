package methods

func (*large) m20() {}

func (l *large) m21() {}

// functions have no receiver, however many there are.
func functions() {}
