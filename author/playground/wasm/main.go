//go:build js && wasm

// Command wasm is the playground for a browser. It sets the function jacquard, which
// takes an Input as JSON and returns an Output as JSON.
//
// Without it, users lose the engine in the browser, which the playground runs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall/js"

	"github.com/jacquard-operator/jacquard/author/playground"
)

func main() {
	js.Global().Set("jacquard", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var in playground.Input
		var out playground.Output
		if err := json.Unmarshal([]byte(args[0].String()), &in); err != nil {
			out.Findings = []playground.Finding{{Text: fmt.Sprintf("reading the input: %v", err)}}
		} else {
			out = playground.Run(context.Background(), in)
		}
		text, err := json.Marshal(out)
		if err != nil { // it holds texts and numbers
			panic(err)
		}
		return string(text)
	}))
	select {}
}
