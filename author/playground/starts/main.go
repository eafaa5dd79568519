// Command starts prints what the playground has to begin with, as JSON. It is run from the
// repository's root.
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
