// Command server stands in for the programs of the examples' images: it serves
// HTTP on the ports of PORTS and says which image it stands for, until SIGTERM. With
// FAIL_AFTER it fails after that time.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	host, _ := os.Hostname()
	answer := fmt.Sprintf("stand-in for %s on %s\n", os.Getenv("IMAGE"), host)
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
	http.HandleFunc("/environment", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, strings.Join(os.Environ(), "\n")) })
	for _, port := range strings.Fields(os.Getenv("PORTS")) {
		server := &http.Server{Addr: ":" + port, ReadHeaderTimeout: time.Minute}
		go func() {
			// A port that a user other than root may not have is left out.
			fmt.Fprintln(os.Stderr, server.ListenAndServe())
		}()
	}
	fmt.Print(answer)
	var fails <-chan time.Time
	if after, err := time.ParseDuration(os.Getenv("FAIL_AFTER")); err == nil {
		fails = time.After(after)
	}
	select {
	case <-ctx.Done():
	case <-fails:
		os.Exit(1) //nolint:gocritic // as a program that fails does
	}
}
