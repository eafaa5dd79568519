package kit

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
)

// operatorLabel is the profiler's label of an operator's goroutines, whose value is its
// account. Goroutines have the labels of the one that started them.
const operatorLabel = "operator"

// goroutines is one entry of a goroutine profile: how many have the same stack.
var goroutines = regexp.MustCompile(`(?m)^(\d+) @ .*\n# labels: (\{.*\})$`)

// Goroutines counts the goroutines of this operator, of all that run in the process, and
// returns their stacks.
func (o *Operator) Goroutines(t testing.TB) (n int, stacks string) {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	for entry := range strings.SplitSeq(profile.String(), "\n\n") {
		found := goroutines.FindStringSubmatch(entry)
		if found == nil || !strings.Contains(found[2], fmt.Sprintf("%q:%q", operatorLabel, o.Access.User())) {
			continue
		}
		many, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		n += many
		stacks += entry + "\n\n"
	}
	return n, stacks
}
