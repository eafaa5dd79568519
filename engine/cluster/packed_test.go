package cluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// TestPacking: an event is read the same however it is written, and what it is about
// is an object, or why the watch ends.
func TestPacking(t *testing.T) {
	const object = `{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a"},"spec":{"text":"\"}"}}`
	for text, as := range map[string]string{
		`{"type":"ADDED","object":` + object + "}\n":       "written by an API server",
		`{ "object" : ` + object + ` , "type" : "ADDED" }`: "written otherwise",
	} {
		event := &metav1.WatchEvent{}
		if _, _, err := (packing{}).Decode([]byte(text), nil, event); err != nil || event.Type != "ADDED" || string(event.Object.Raw) != object {
			t.Errorf("%s: %v, %s %s", as, err, event.Type, event.Object.Raw)
		}
	}
	decode := func(text string) runtime.Object {
		t.Helper()
		o, _, err := (packing{}).Decode([]byte(text), nil, nil)
		if err != nil {
			t.Error(err)
		}
		return o
	}
	if o, is := decode(object).(*live.Packed); !is || o.Name != "a" || string(o.JSON) != object {
		t.Errorf("an object is read as %+v", o)
	}
	if o, is := decode(`{"kind":"Status","apiVersion":"v1","metadata":{},"code":410}`).(*metav1.Status); !is || o.Code != 410 {
		t.Errorf("a status is read as %+v", o)
	}
	for _, wrong := range []string{``, `{"type":"ADDED"`, `{"type":"ADDED","object":{"a":}}`, `{"type":"ADDED","object":[]}`} {
		event := &metav1.WatchEvent{}
		_, _, err := (packing{}).Decode([]byte(wrong), nil, event)
		if err == nil {
			_, _, err = (packing{}).Decode(event.Object.Raw, nil, nil)
		}
		if err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

// TestPackedList: what the server says instead of a list is an error as other clients
// know it, and nothing but a list is one.
func TestPackedList(t *testing.T) {
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"MESSAGE","reason":"REASON","code":CODE}`
	refuses := func(code, reason string) string {
		return strings.NewReplacer("MESSAGE", "because of that", "REASON", reason, "CODE", code).Replace(status)
	}
	is := func(is func(error) bool) func(error) bool {
		return func(err error) bool { return is(err) && strings.Contains(err.Error(), "because of that") }
	}
	for name, c := range map[string]struct {
		code int
		body string
		want func(error) bool
	}{
		"a list": {200, `{"kind":"ThingList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}}]}`,
			func(err error) bool { return err == nil }},
		"forbidden":      {403, refuses("403", "Forbidden"), is(apierrors.IsForbidden)},
		"expired":        {410, refuses("410", "Expired"), is(apierrors.IsResourceExpired)},
		"a webhook":      {500, refuses("500", "InternalError"), is(apierrors.IsInternalError)},
		"not an object":  {200, `<html>`, func(err error) bool { return err != nil }},
		"not a list":     {200, `{}`, func(err error) bool { return err != nil }},
		"one of nothing": {200, `{"kind":"ThingList","apiVersion":"v1","items":[]}`, func(err error) bool { return err != nil }},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.code)
			_, _ = w.Write([]byte(c.body))
		}))
		p, err := newPacked(&rest.Config{Host: server.URL}, server.Client())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.list(t.Context(), schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}, "",
			metav1.ListOptions{}); !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
	}
}
