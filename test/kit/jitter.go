package kit

import (
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// addJitter delays some of the requests of cfg, some of their answers and some of the events of
// watches. They are late by up to the duration in the environment's variable. This shows what only
// works because one side is quick.
func addJitter(cfg *rest.Config, variable string) {
	if most, err := time.ParseDuration(os.Getenv(variable)); err == nil && most > 0 {
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return jittered{next, most} })
	}
}

type jittered struct {
	http.RoundTripper
	most time.Duration
}

// wait waits in one of three calls.
func (l jittered) wait() {
	if rand.IntN(3) == 0 {
		time.Sleep(rand.N(l.most))
	}
}

func (l jittered) RoundTrip(r *http.Request) (*http.Response, error) {
	l.wait()
	answer, err := l.RoundTripper.RoundTrip(r)
	l.wait()
	if err == nil && strings.Contains(r.URL.RawQuery, "watch=") {
		answer.Body = lateBody{answer.Body, l}
	}
	return answer, err
}

type lateBody struct {
	io.ReadCloser
	jittered
}

func (b lateBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.wait()
	return n, err
}
