package docs

import "testing"

// After a restart nothing is sent. // want `^TestRestart has a comment that starts with "After a"`
func TestRestart(*testing.T) {}

// TestStop: a store stops.
func TestStop(*testing.T) {}
