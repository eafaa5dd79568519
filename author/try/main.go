// Command try shows in a second what templates do with values, what is found
// before anything runs, and how the kinds that ship are checked. It needs no
// cluster, and so no client of one is compiled for it.
//
// It is run from the repository's root, and exits with 1 unless everything that
// it shows came out as it says.
//
// Without it, users lose a first look in seconds, without a cluster.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"
)

// page is the root of the kind that the first two parts are about.
const page = "author/try/page"

// pages is the name of that kind, and of its files.
const pages = "pages.example.com"

func main() {
	next := flag.Bool("next", true, "name the next command to type")
	flag.Parse()
	begun := time.Now()
	s := newScreen(os.Stdout)
	for _, part := range []func(context.Context) error{s.showValue, s.showTypo, s.showShipped} {
		if err := part(context.Background()); err != nil {
			fmt.Fprintf(os.Stderr, "\ntry: %v\n", err)
			os.Exit(1)
		}
	}
	s.printText("All of this took %.1f s and no cluster. The operator runs the same code.\n", time.Since(begun).Seconds())
	if *next {
		s.printHeading("Next")
		s.printText("  make demo     runs these kinds on a real Kubernetes of their own; the first time it builds that, in 5 to 10 minutes\n")
		s.printText("  make build    builds .bin/jacquard, with the commands lint, test and render, and with new for a kind of your own\n\n")
	}
}
