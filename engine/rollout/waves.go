package rollout

import (
	"strconv"
	"strings"
	"time"
)

// Settings are what is rolled out, and how.
type Settings struct {
	// Digest is that of the version which is rolled out.
	Digest string
	// Waves are sizes of waves, as numbers of resources or per cent of those
	// that change ("5%"); the rest follow in a last wave. Default 1, 5%, 25%.
	Waves []string
	// Deadline is how long a wave may take; default 10 minutes.
	Deadline time.Duration
}

// The defaults of Settings.
var defaultWaves = []string{"1", "5%", "25%"}

const defaultDeadline = 10 * time.Minute

func (s Settings) withDefaults() Settings {
	if len(s.Waves) == 0 {
		s.Waves = defaultWaves
	}
	if s.Deadline <= 0 {
		s.Deadline = defaultDeadline
	}
	return s
}

// size is how many resources wave i has when total change: at least one, and
// per cent are rounded up. After the last wave all are due.
func (s Settings) size(i, total int) int {
	if i >= len(s.Waves) {
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
