// Package fuzzed counts the inputs of a fuzz target that get past parsing, and makes
// inputs that do: a target whose inputs are all refused at once tests nothing. Only tests
// import it.
package fuzzed

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
)

// Counts is the variable with the folder into which each process that fuzzes
// writes how many inputs have passed, as <target>.<process id>; `make fuzz`
// adds them up.
const Counts = "FUZZ_COUNTS"

// every is after how many inputs the number is written: whoever ends the
// processes does not ask them first.
const every = 256

// Passed returns what a target calls for each input that got past parsing. It
// fails a run over the seeds in which none did.
func Passed(f *testing.F) func() {
	f.Helper()
	var passed atomic.Int64
	write := func(n int64) {
		dir := os.Getenv(Counts)
		if dir == "" || !isSet("test.fuzzworker") {
			return
		}
		file := filepath.Join(dir, f.Name()+"."+strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(file, []byte(strconv.FormatInt(n, 10)), 0o600); err != nil {
			panic(err)
		}
	}
	f.Cleanup(func() {
		n := passed.Load()
		write(n)
		switch {
		case n > 0:
			f.Logf("%d inputs got past parsing", n)
		case !isSet("test.fuzz") && !isSet("test.fuzzworker") && !isSet("test.run"):
			f.Error("no seed got past parsing")
		}
	})
	return func() {
		if n := passed.Add(1); n%every == 0 {
			write(n)
		}
	}
}

// isSet reports whether a flag of `go test` was given.
func isSet(name string) bool {
	given := flag.Lookup(name)
	return given != nil && given.Value.String() != given.DefValue
}
