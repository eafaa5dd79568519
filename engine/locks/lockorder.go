//go:build lockorder

package locks

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
)

// A Mutex is a leaf: whoever holds one acquires no other. This one panics otherwise.
type Mutex struct{ mu sync.Mutex }

// held has the place where each goroutine that holds a Mutex acquired it.
var (
	held   = map[uint64]uintptr{}
	heldMu sync.Mutex
)

// Lock acquires the mutex.
func (m *Mutex) Lock() {
	self := currentGoroutine()
	heldMu.Lock()
	first, isHeld := held[self]
	heldMu.Unlock()
	if isHeld {
		frame, _ := runtime.CallersFrames([]uintptr{first}).Next()
		panic(fmt.Sprintf("a goroutine acquires a second leaf mutex; it holds one since %s:%d", frame.File, frame.Line))
	}
	m.mu.Lock()
	noteHolder(self)
}

// TryLock acquires the mutex if nobody holds it, and reports whether it did.
func (m *Mutex) TryLock() bool {
	if !m.mu.TryLock() {
		return false
	}
	noteHolder(currentGoroutine())
	return true
}

// Unlock releases the mutex. It must be called by the goroutine that holds it.
func (m *Mutex) Unlock() {
	heldMu.Lock()
	delete(held, currentGoroutine())
	heldMu.Unlock()
	m.mu.Unlock()
}

// noteHolder notes that a goroutine has acquired a mutex where its caller's caller is.
func noteHolder(goroutine uint64) {
	var at [1]uintptr
	runtime.Callers(3, at[:])
	heldMu.Lock()
	defer heldMu.Unlock()
	held[goroutine] = at[0]
}

// stacks are buffers for currentGoroutine.
var stacks = sync.Pool{New: func() any { return new([64]byte) }}

// currentGoroutine returns the number of the goroutine, which its stack begins with.
func currentGoroutine() uint64 {
	text := stacks.Get().(*[64]byte)
	defer stacks.Put(text)
	_, rest, _ := bytes.Cut(text[:runtime.Stack(text[:], false)], []byte(" "))
	number, _, _ := bytes.Cut(rest, []byte(" "))
	n, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
