package controller

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	testingclock "k8s.io/utils/clock/testing"
)

// TestReadinessWithoutBaseWatches: a process that cannot watch CRDs any more is not ready
// once that lasts, and is ready again as soon as it can.
func TestReadinessWithoutBaseWatches(t *testing.T) {
	now := testingclock.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	bases := &baseWatches{clock: now}
	o := readOperator(Options{}.withDefaults())
	o.bases = bases
	var answer error
	source := cache.ToListerWatcherWithContext(bases.wrapSource(baseName(&apiextensionsv1.CustomResourceDefinition{}), &cache.ListWatch{
		ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, answer },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, answer },
	}))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, step := range []struct {
		name   string
		ctx    context.Context
		answer error
		passes time.Duration
		ready  bool
	}{
		{"at the start", t.Context(), nil, 0, true},
		{"refused", t.Context(), errors.New("forbidden"), 0, true},
		{"refused for a short time", t.Context(), errors.New("forbidden"), unreadyAfter - time.Second, true},
		{"refused for long", t.Context(), errors.New("no route to host"), time.Second, false},
		{"answered again", t.Context(), nil, 0, true},
		{"too old", t.Context(), apierrors.NewResourceExpired("too old"), 0, true},
		{"the list after it was not sent yet", t.Context(), apierrors.NewResourceExpired("too old"), time.Hour, true},
		{"ended", ended, context.Canceled, 0, true},
		{"long ended", ended, context.Canceled, time.Hour, true},
	} {
		answer = step.answer
		now.SetTime(now.Now().Add(step.passes))
		for _, err := range []error{second(source.ListWithContext(step.ctx, metav1.ListOptions{})),
			second(source.WatchWithContext(step.ctx, metav1.ListOptions{}))} {
			if !errors.Is(err, step.answer) {
				t.Errorf("%s: the error is %v, want %v", step.name, err, step.answer)
			}
		}
		probe := httptest.NewRecorder()
		o.probeHandler().ServeHTTP(probe, httptest.NewRequest("GET", "/readyz", nil))
		text := probe.Body.String()
		if (probe.Code == http.StatusOK) != step.ready || (o.Ready() == nil) != step.ready {
			t.Errorf("%s: %d, want ready %v: %s", step.name, probe.Code, step.ready, text)
		}
		if !step.ready && !strings.Contains(text, "CRDs cannot be listed or watched since 2026-01-02T03:04:05Z: no route to host") {
			t.Errorf("%s: the probe does not contain the reason: %s", step.name, text)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestBaseName: trouble with other objects keeps no process from being ready.
func TestBaseName(t *testing.T) {
	if name := baseName(&metav1.PartialObjectMetadata{}); name != "" {
		t.Errorf("%q", name)
	}
}
