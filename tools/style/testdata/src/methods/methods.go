package methods

type small struct{}

type large struct{} // want `^large has 21 methods, and at most 20 are allowed; divide`

func (small) m1()  {}
func (small) m2()  {}
func (small) m3()  {}
func (small) m4()  {}
func (small) m5()  {}
func (small) m6()  {}
func (small) m7()  {}
func (small) m8()  {}
func (small) m9()  {}
func (small) m10() {}
func (small) m11() {}
func (small) m12() {}
func (small) m13() {}
func (small) m14() {}
func (small) m15() {}
func (small) m16() {}
func (small) m17() {}
func (small) m18() {}
func (small) m19() {}
func (small) m20() {}
func (large) m1()  {}
func (large) m2()  {}
func (large) m3()  {}
func (large) m4()  {}
func (large) m5()  {}
func (large) m6()  {}
func (large) m7()  {}
func (large) m8()  {}
func (large) m9()  {}
func (large) m10() {}
func (large) m11() {}
func (large) m12() {}
func (large) m13() {}
func (large) m14() {}
func (large) m15() {}
func (large) m16() {}
func (large) m17() {}
func (large) m18() {}
func (large) m19() {}
