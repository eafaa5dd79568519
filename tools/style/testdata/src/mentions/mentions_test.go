package mentions

import "testing"

// TestFence needs fakeClock. // want `^fakeClock is named in a comment`
func TestFence(*testing.T) {}
