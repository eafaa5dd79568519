// Command demo shows the operator on a Kubernetes of its own: it starts both,
// applies the examples, says how they get ready and what became of them, deletes
// a child, rolls out a bad image, and makes a new kind. It runs on until Ctrl-C;
// with --once it ends by itself, with exit code 1 and the reason unless each part
// was seen.
//
// With --kubeconfig it does the same in a cluster that there is, in a namespace
// of its own, and removes what it made. With --ui it also starts `jacquard ui`.
//
// It is run from the repository's root, where .bin/ holds the programs; kubectl it builds
// itself, with Go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// init locks the main goroutine to its thread, which is the one that ends last. The kernel kills
// the processes that we start when the thread that started them ends.
func init() { runtime.LockOSThread() }

// errAsked ends a demo that somebody asked to end.
var errAsked = errors.New("asked to stop")

func main() {
	once := flag.Bool("once", false, "end when every part was seen")
	ui := flag.Bool("ui", false, "also start jacquard ui, and open its page if there is a desktop")
	kubeconfig := flag.String("kubeconfig", "", "`file` with the access to a cluster; without it, one is started")
	limit := flag.Duration("limit", 3*time.Minute, "how long the resources may take to get ready")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "demo: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancelWhenAsked(cancel)
	d := &demo{once: *once, ui: *ui, limit: *limit, outside: *kubeconfig, cancel: cancel, screen: newScreen(os.Stdout)}
	err := d.run(ctx)
	err = errors.Join(err, d.takeDown(err))
	if err != nil && !onlyAsked(err) {
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		os.Exit(1)
	}
}

// onlyAsked reports whether nothing went wrong, but that somebody asked to end.
func onlyAsked(err error) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	return ok && len(joined.Unwrap()) == 1 && errors.Is(err, errAsked)
}

// cancelWhenAsked cancels on Ctrl-C and on SIGTERM. A second signal ends the
// program at once, and the kernel what it started.
func cancelWhenAsked(cancel context.CancelCauseFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel(errAsked)
	}()
}
