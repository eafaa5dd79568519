//go:build !lockorder

package locks

import "sync"

// A Mutex is a leaf: whoever holds one acquires no other.
type Mutex = sync.Mutex
