package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/client-go/rest"
)

// slice is how long a CPU profile is, in seconds: `go tool pprof` adds several up.
const slice = 3

// takeProfiles takes CPU profiles of the operator and of the API server until it
// is told to stop, and then a heap profile of the operator. The files are
// PHASE-N.cpu, PHASE-N.apiserver.cpu and PHASE.heap.
func (b *bench) takeProfiles(ctx context.Context, phase string) (stop func()) {
	if b.profile == "" {
		return func() {}
	}
	ending := make(chan struct{})
	var all sync.WaitGroup
	apiserver, err := rest.HTTPClientFor(b.cluster.Config())
	if err != nil {
		log.Print(err)
		return func() {}
	}
	follow := func(client *http.Client, base, suffix string) {
		for n := 0; ; n++ {
			select {
			case <-ending:
				return
			default:
			}
			if err := b.fetchProfile(ctx, client, fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", base, slice),
				fmt.Sprintf("%s-%d%s.cpu", phase, n, suffix)); err != nil {
				log.Print(err)
				return
			}
		}
	}
	all.Go(func() { follow(http.DefaultClient, "http://"+b.pprof, "") })
	all.Go(func() { follow(apiserver, b.cluster.Config().Host, ".apiserver") })
	return func() {
		close(ending)
		all.Wait()
		if err := b.fetchProfile(ctx, http.DefaultClient, "http://"+b.pprof+"/debug/pprof/heap?gc=1", phase+".heap"); err != nil {
			log.Print(err)
		}
	}
}

// fetchProfile writes what url answers to a file of the profiles.
func (b *bench) fetchProfile(ctx context.Context, client *http.Client, url, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	return os.WriteFile(filepath.Join(b.profile, file), text, 0o644)
}
