// Command starts prints what the playground has to begin with, as JSON. It is run from the
// repository's root.
//
// Without it, users lose the kinds that the playground offers to begin with.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/jacquard-operator/jacquard/author/playground"
)

func main() {
	all, err := playground.Starts(os.DirFS("."))
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(all)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "starts: %v\n", err)
		os.Exit(1)
	}
}
