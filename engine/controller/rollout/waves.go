package rollout

import (
	"strconv"
	"strings"
	"time"
)

// Settings are what is rolled out, and how. The defaults are those of
// kind.yaml; here there are none.
type Settings struct {
	// Digest is that of the version which is rolled out.
	Digest string
	// Waves are sizes of waves, as numbers of resources or per cent of those
	// that change ("5%"); the rest follow in a last wave. None: all at once.
	Waves []string
	// Deadline is how long a wave may take.
	Deadline time.Duration
	// Back: the version is the one before an unfinished rollout, put back. It
	// goes to all at once and waits for nothing, but for approval of what it
	// deletes.
	Back bool
}

// size is how many resources wave i has when total change: at least one, and
// per cent are rounded up. After the last wave all are due.
func (s Settings) size(i, total int) int {
	if s.Back || i >= len(s.Waves) {
		return total
	}
	number, percent := strings.CutSuffix(s.Waves[i], "%")
	n, err := strconv.Atoi(number)
	if err != nil { // kind.yaml was checked when it was loaded
		return 1
	}
	if percent {
		n = (n*total + 99) / 100
	}
	return max(n, 1)
}
