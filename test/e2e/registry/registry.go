// Package registry is a registry of images in this process: tests push to it,
// and a node whose container runtime takes it as a mirror pulls from it, under
// the names of any other registry.
package registry

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// A Registry is a registry on loopback that forgets everything when the
// process ends.
type Registry struct {
	server  *http.Server
	address string
}

// Start starts a registry on a port that the kernel gives.
func Start() (*Registry, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a registry: %w", err)
	}
	quiet := log.New(io.Discard, "", 0)
	r := &Registry{
		server:  &http.Server{Handler: registry.New(registry.Logger(quiet)), ReadHeaderTimeout: time.Minute},
		address: listener.Addr().String(),
	}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// URL is where the registry answers, such as http://127.0.0.1:40123.
func (r *Registry) URL() string { return "http://" + r.address }

// Close ends the registry.
func (r *Registry) Close() error { return r.server.Close() }

// Push puts an image under the name by which it would be pulled from anywhere,
// such as nginx:1.29 or quay.io/org/app. The registry's own name in it is left
// out, as mirrors are asked without it.
func (r *Registry) Push(image v1.Image, as string) error {
	reference, err := name.ParseReference(as)
	if err != nil {
		return fmt.Errorf("pushing %s: %w", as, err)
	}
	repository := r.address + "/" + reference.Context().RepositoryStr()
	here, err := name.NewTag(repository+":"+reference.Identifier(), name.Insecure)
	if err != nil {
		return fmt.Errorf("pushing %s: %w", as, err)
	}
	if err := remote.Write(here, image); err != nil {
		return fmt.Errorf("pushing %s: %w", as, err)
	}
	return nil
}
