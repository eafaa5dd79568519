package operators

import (
	"net/http"
	"sync"
)

// astray are requests of dead operators that are still on their way. Each
// arrives at the worst moment: just before the first request for the same
// object of an operator that lives, or before the second.
type astray struct {
	mu   sync.Mutex
	held map[request]*held
	all  int
}

// A held is a request, and how many others for the object come, it before the
// last of them.
type held struct {
	next   http.RoundTripper
	r      *http.Request
	before int
}

func (a *astray) put(object request, next http.RoundTripper, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.GetBody != nil {
		r.Body, _ = r.GetBody()
	}
	a.held[object] = &held{next, r, 1 + a.all%2}
	a.all++
}

// meet lets a request arrive that another one for the object comes after.
func (a *astray) meet(object request) {
	a.mu.Lock()
	h := a.held[object]
	if h != nil {
		h.before--
	}
	if h == nil || h.before > 0 {
		a.mu.Unlock()
		return
	}
	delete(a.held, object)
	a.mu.Unlock()
	if answer, err := h.next.RoundTrip(h.r); err == nil {
		answer.Body.Close()
	}
}
