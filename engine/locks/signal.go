package locks

// A Signal wakes the goroutine that receives from it. Signals that nobody has received yet become one.
type Signal chan struct{}

// NewSignal returns a Signal.
func NewSignal() Signal { return make(Signal, 1) }

// Notify sends the signal. It never blocks.
func (s Signal) Notify() {
	select {
	case s <- struct{}{}:
	default:
	}
}
