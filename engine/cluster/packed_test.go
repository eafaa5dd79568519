package cluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

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
