// Command write writes the generated parts of the documents: make docs. It runs in the
// root of the repository.
package main

import (
	"fmt"
	"os"

	"github.com/jacquard-operator/jacquard/test/docs"
)

func main() {
	if err := writePages(); err != nil {
		fmt.Fprintln(os.Stderr, "make docs:", err)
		os.Exit(1)
	}
}

func writePages() error {
	pages, err := docs.Pages(".")
	if err != nil {
		return err
	}
	for _, page := range pages {
		if page.Want == page.Old {
			continue
		}
		if err := os.WriteFile(page.Path, []byte(page.Want), 0o644); err != nil {
			return err
		}
		fmt.Println("wrote", page.Path)
	}
	return nil
}
