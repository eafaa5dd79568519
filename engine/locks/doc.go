// Package locks has the mutex of packages in which no goroutine may hold two at a time, and the
// signal that wakes a goroutine. With the build tag lockorder, with which make check runs the
// tests, a goroutine that acquires a second mutex panics.
//
// Without it, users lose the certainty that the process never blocks itself.
package locks
