// Command web is what the tests' Pods run: an HTTP server, and what kubectl
// exec wants of an image without a shell.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "get":
		client := http.Client{Timeout: 5 * time.Second}
		response, err := client.Get(os.Args[2])
		if err != nil {
			log.Fatal(err)
		}
		_, _ = io.Copy(os.Stdout, response.Body)
	case len(os.Args) == 2 && os.Args[1] == "first": // says what process 1 is
		line, err := os.ReadFile("/proc/1/cmdline")
		fmt.Printf("process 1 is %q %v\n", line, err)
	default:
		fmt.Println("listening")
		log.Fatal(http.ListenAndServe(":8080", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			host, _ := os.Hostname()
			fmt.Fprintf(w, "hello from %s\n", host)
		})))
	}
}
