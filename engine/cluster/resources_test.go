package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

const webs = "webs.example.com"

// web is how webs are served.
func web() live.Resource {
	gv := schema.GroupVersion{Group: "example.com", Version: "v1"}
	return live.Resource{GVK: gv.WithKind("Web"), GVR: gv.WithResource("webs"), Namespaced: true, Verbs: sets.New("list", "watch")}
}

// webText is the JSON of a web, whose uid is its name.
func webText(name, version, text string) string {
	return fmt.Sprintf(`{"kind":"Web","metadata":{"namespace":"n","name":%q,"uid":%q,"resourceVersion":%q,"managedFields":[{"manager":"m"}]},"spec":%q}`,
		name, name, version, text)
}

func packedWeb(t *testing.T, name, version, text string) *live.Packed {
	t.Helper()
	o, err := live.Pack([]byte(webText(name, version, text)))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A changeLog notes what Resources passes on.
type changeLog struct {
	mu      sync.Mutex
	changes []string
	// troubled and synced count.
	troubled, synced atomic.Int64
}

func (l *changeLog) note(_ string, c Change) {
	what := "change"
	switch {
	case c.IsFirst:
		what = "first"
	case c.Before.Meta == nil:
		what = "new"
	case c.After.Meta == nil:
		what = "gone"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = append(l.changes, what+" "+c.Key().Name)
}

// take returns what was noted since the last call, in order of its text.
func (l *changeLog) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	noted := slices.Sorted(slices.Values(l.changes))
	l.changes = nil
	return strings.Join(noted, ", ")
}

// newResources returns Resources that pass on what changes to a log.
func newResources(t *testing.T, through http.RoundTripper, part func(string) Part) (*Resources, *changeLog) {
	t.Helper()
	l := &changeLog{}
	r, err := NewResources(&rest.Config{Host: "http://memory"}, ResourcesOptions{HTTPClient: &http.Client{Transport: through}, Part: part,
		Changed: l.note, Synced: func(string) { l.synced.Add(1) }, Troubled: func(string) { l.troubled.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	return r, l
}

// TestResourcesPassOnChanges: what is listed first is passed on, and then what changes: a list that
// says the same passes on nothing, unless the CRD changed and the API server shows it otherwise. What
// is not of the part that is watched is not there. Managed fields are kept once, in the JSON.
func TestResourcesPassOnChanges(t *testing.T) {
	r, l := newResources(t, nil, nil)
	k, s := drive(&r.watches, live.Body)
	step := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(want, l.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	list := func(objects ...any) {
		t.Helper()
		if err := s.Replace(objects, "9"); err != nil {
			t.Fatal(err)
		}
	}
	list(packedWeb(t, "a", "1", ""), packedWeb(t, "b", "1", ""))
	step("the first list", "first a, first b")
	list(packedWeb(t, "a", "1", "as the API server shows it now"), packedWeb(t, "b", "1", ""))
	step("the same list", "")
	list(packedWeb(t, "a", "2", ""), packedWeb(t, "c", "1", ""))
	step("another list", "change a, gone b, new c")
	s.isRenewed = true
	list(packedWeb(t, "a", "2", "as the API server shows it now"), packedWeb(t, "c", "1", ""))
	step("a list after the CRD changed", "change a")
	for _, l := range s.items {
		if u, err := l.Unpack(); err != nil || len(u.GetManagedFields()) != 1 || len(l.Meta.GetManagedFields()) != 0 {
			t.Errorf("%s has managed fields %v, and in its metadata %v (%v)", l.Key(), u.GetManagedFields(), l.Meta.GetManagedFields(), err)
		}
	}
	s.watch.part = Part{Name: "a", Has: func(_ api.Owner, uid types.UID) bool { return uid == "a" }}
	for _, o := range []*live.Packed{packedWeb(t, "a", "3", ""), packedWeb(t, "b", "3", ""), packedWeb(t, "c", "3", "")} {
		if err := s.Update(o); err != nil {
			t.Fatal(err)
		}
	}
	step("events of another part", "change a, gone c")
	if err := errors.Join(s.Delete(packedWeb(t, "b", "4", "")), s.Delete(packedWeb(t, "a", "4", ""))); err != nil {
		t.Fatal(err)
	}
	step("what is deleted", "gone a")
	if small, err := s.Transformer()(packedWeb(t, "b", "1", "")); err != nil {
		t.Error(err)
	} else if _, isWhole := small.(*live.Packed); isWhole {
		t.Errorf("of another part %v is kept while a list streams in", small)
	}
	if k.overlay.tick != 0 {
		t.Error("something stands in for the watch")
	}
}

// A webServer serves webs to lists that do not stream.
type webServer struct {
	// list answers a list, with the items or an error of the API.
	list func(context.Context) (items []string, err error)
	// deniesWatch: no right allows to watch.
	deniesWatch atomic.Bool
	// isDown: there is no connection.
	isDown bool
}

// RoundTrip answers a request.
func (s *webServer) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	switch {
	case s.isDown:
		return nil, errors.New("no connection")
	case query.Get("watch") != "" && s.deniesWatch.Load():
		return answer(403, status("Forbidden", 403, "it cannot watch them")), nil
	case query.Get("sendInitialEvents") != "":
		return answer(400, status("BadRequest", 400, "lists are not streamed")), nil
	case query.Get("watch") != "":
		body, end := io.Pipe()
		context.AfterFunc(r.Context(), func() { _ = end.CloseWithError(r.Context().Err()) })
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}, nil
	}
	items, err := s.list(r.Context())
	var refused apierrors.APIStatus
	switch {
	case errors.As(err, &refused):
		of := refused.Status()
		return answer(int(of.Code), status(string(of.Reason), of.Code, of.Message)), nil
	case err != nil:
		return nil, err
	}
	return answer(200, `{"kind":"WebList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"5"},"items":[`+strings.Join(items, ",")+`]}`), nil
}

func answer(code int, text string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text))}
}

func status(reason string, code int32, message string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":%q}`, reason, code, message)
}

// watchWebs watches webs until the test ends.
func watchWebs(t *testing.T, through http.RoundTripper, part func(string) Part) (*Resources, *changeLog) {
	t.Helper()
	r, l := newResources(t, through, part)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	r.Watch(webs, web())
	return r, l
}

// TestResourcesOfParts: another part may be wanted while a watch runs. What is known stays until that
// part has been listed; an empty part needs no list.
func TestResourcesOfParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := make(chan []string)
		server := &webServer{list: func(ctx context.Context) ([]string, error) {
			select {
			case items := <-lists:
				return items, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		wanted := Part{Name: "all"}
		r, l := watchWebs(t, server, func(kind string) Part {
			if kind != webs && kind != "others.example.com" {
				t.Errorf("the part of %q is asked for", kind)
			}
			return wanted
		})
		knows := func(when, want, changes string, isCurrent bool) {
			t.Helper()
			synctest.Wait()
			var names []string
			for _, o := range r.All(webs) {
				names = append(names, o.GetName())
			}
			slices.Sort(names)
			if got := strings.Join(names, ","); got != want {
				t.Errorf("%s %q are known, want %q", when, got, want)
			}
			if places := r.Places(webs); (len(places) == 1 && places[0].IsCurrent) != isCurrent {
				t.Errorf("%s it stands so: %+v", when, places)
			}
			if got := l.take(); got != changes {
				t.Errorf("%s it passes on %q, want %q", when, got, changes)
			}
		}
		all := []string{webText("a", "1", ""), webText("b", "1", "")}
		knows("before the list", "", "", false)
		if _, _, err := r.Find(webs, types.NamespacedName{Namespace: "n", Name: "a"}); err == nil {
			t.Error("before the list it is known that a web is not there")
		}
		lists <- all
		knows("after the list", "a,b", "first a, first b", true)
		wanted = Part{Name: "b", Has: func(_ api.Owner, uid types.UID) bool { return uid == "b" }}
		r.Divide()
		knows("before the list of a part", "a,b", "", false)
		lists <- all
		knows("after the list of a part", "b", "gone a", true)
		wanted.Name = "b again"
		r.Divide()
		knows("before the same is listed again", "b", "", false)
		lists <- nil
		knows("after the same was listed again", "", "gone b", true)
		wanted = Part{Name: "none", IsEmpty: true, Has: func(api.Owner, types.UID) bool { return false }}
		r.Divide()
		knows("without a part", "", "", true)
		wanted = Part{Name: "all"}
		r.Divide()
		lists <- all
		knows("after all is wanted again", "a,b", "new a, new b", true)
		if o, found, err := r.Find(webs, types.NamespacedName{Namespace: "n", Name: "a"}); err != nil || !found || o.Meta.GetUID() != "a" {
			t.Errorf("a web is found: %t, %v", found, err)
		}
		r.Watch("others.example.com", web())
		lists <- all
		knows("after another CRD took its place", "", "first a, first b", false)
		if names := r.All("others.example.com"); len(names) != 2 {
			t.Errorf("the other CRD has %d webs", len(names))
		}
		r.Forget("others.example.com")
		if places := r.Places(webs); places != nil || len(r.names) > 0 {
			t.Errorf("what is forgotten stands so: %+v", places)
		}
	})
}

// TestResourcesReportMissingRightsOnce: where the right to watch is missing, or that to list too, this
// is reported once and stays, though lists come in.
func TestResourcesReportMissingRightsOnce(t *testing.T) {
	for name, deniesList := range map[string]bool{"to watch": false, "to list and watch": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &webServer{}
				server.deniesWatch.Store(true)
				server.list = func(context.Context) ([]string, error) {
					if deniesList && server.deniesWatch.Load() {
						return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "webs"}, "", errors.New("it cannot list them"))
					}
					return nil, nil
				}
				r, l := watchWebs(t, server, nil)
				time.Sleep(10 * time.Second)
				before := l.troubled.Load()
				time.Sleep(5 * time.Minute)
				again, place := l.troubled.Load()-before, r.Places(webs)[0]
				if before == 0 || again != 0 || !apierrors.IsForbidden(place.Err) || !place.IsGivenUp || place.IsListed == deniesList {
					t.Errorf("after five minutes it stands so: %+v; it was reported %d and %d times", place, before, again)
				}
				server.deniesWatch.Store(false)
				time.Sleep(time.Minute)
				if place := r.Places(webs)[0]; place.Err != nil || place.IsGivenUp || !place.IsListed {
					t.Errorf("once it is allowed: %+v", place)
				}
			})
		})
	}
}

// TestResourcesWaitForLists: what the API server refuses to list is reported at once; nobody waits for
// it any more once it has been refused, or got no answer, for some seconds. An API server that cannot
// be reached is waited for.
func TestResourcesWaitForLists(t *testing.T) {
	refuses := func(context.Context) ([]string, error) { return nil, apierrors.NewInternalError(errors.New("no")) }
	hangs := func(ctx context.Context) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() }
	const never = -1
	for name, c := range map[string]struct {
		server *webServer
		// reported, silent and givenUp are the seconds after which it is so.
		reported, silent, givenUp int
	}{
		"refused":       {&webServer{list: refuses}, 0, never, 3},
		"no answer":     {&webServer{list: hangs}, 8, 4, 8},
		"no connection": {&webServer{isDown: true}, 0, never, never},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, l := watchWebs(t, c.server, nil)
				for second := range 12 {
					is := func(since int) bool { return since >= 0 && second >= since }
					synctest.Wait()
					if p := r.Places(webs)[0]; (p.Err != nil) != is(c.reported) || p.IsSilent != (is(c.silent) && p.Err == nil) || p.IsGivenUp != is(c.givenUp) {
						t.Errorf("after %d s it stands so: %+v", second, p)
					}
					time.Sleep(time.Second)
				}
				if n := l.troubled.Load(); n != 1 {
					t.Errorf("it is reported %d times", n)
				}
			})
		})
	}
}

// TestSilenceKeepsTheCause: while the API server lets each try wait before it refuses it, as with a
// conversion webhook that does not answer, the cause stays and is reported once.
func TestSilenceKeepsTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := watchWebs(t, &webServer{list: func(ctx context.Context) ([]string, error) {
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second):
			}
			return nil, apierrors.NewInternalError(errors.New("the webhook does not answer"))
		}}, nil)
		time.Sleep(time.Minute)
		const want = "Internal error occurred: the webhook does not answer"
		if err := r.Places(webs)[0].Err; l.troubled.Load() != 2 || errorText(err) != want {
			t.Errorf("reported %d times, want 2: %v", l.troubled.Load(), err)
		}
	})
}
