// Command demo shows the operator on a Kubernetes of its own: it starts both,
// applies the examples, says how they get ready, and what became of them.
// It runs on until Ctrl-C; with --once it ends when all are ready, or with
// exit code 1 and the reason.
//
// It is run from the repository's root, where .bin/ holds the programs.
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

// The kernel kills the processes that we start when the thread that started
// them ends; the main goroutine keeps to the thread that ends last.
func init() { runtime.LockOSThread() }

// errAsked ends a demo that somebody asked to end.
var errAsked = errors.New("asked to stop")

func main() {
	once := flag.Bool("once", false, "end when all resources are ready")
	limit := flag.Duration("limit", 3*time.Minute, "how long the resources may take to get ready")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "demo: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancelWhenAsked(cancel)
	d := &demo{once: *once, limit: *limit, cancel: cancel, screen: newScreen(os.Stdout)}
	err := d.run(ctx)
	d.down()
	if errors.Is(err, errAsked) {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		os.Exit(1)
	}
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
