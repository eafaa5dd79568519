package methods

func (small) m21() {}
