package controller

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/jacquard-operator/jacquard/engine/apply"
)

// metricsAuth lets those get the metrics whom the API server knows and allows to. The
// filter that it takes for that answers 500 to a token that the API server does
// not know, as it does where the API server cannot be asked; metricsAuth distinguishes
// these.
func metricsAuth(cfg *rest.Config, client *http.Client) (metricsserver.Filter, error) {
	reviewer, err := apply.NewReviewer(cfg)
	if err != nil {
		return nil, err
	}
	filter, err := filters.WithAuthenticationAndAuthorization(cfg, client)
	if err != nil {
		return nil, err
	}
	return func(log logr.Logger, metrics http.Handler) (http.Handler, error) {
		next, err := filter(log, metrics)
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			next.ServeHTTP(&unauthorizedWriter{w, q, reviewer.Knows}, q)
		}), err
	}, nil
}

// An unauthorizedWriter writes 401 for 500 where the request's token is not known.
type unauthorizedWriter struct {
	http.ResponseWriter
	request *http.Request
	knows   func(ctx context.Context, token string) (bool, error)
}

// WriteHeader implements [http.ResponseWriter].
func (v *unauthorizedWriter) WriteHeader(code int) {
	kind, token, _ := strings.Cut(v.request.Header.Get("Authorization"), " ")
	if code == http.StatusInternalServerError && strings.EqualFold(kind, "Bearer") {
		if known, err := v.knows(v.request.Context(), strings.TrimSpace(token)); err == nil && !known {
			code = http.StatusUnauthorized
		}
	}
	v.ResponseWriter.WriteHeader(code)
}
