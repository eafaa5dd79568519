package controller

import (
	"crypto/tls"
	"fmt"
	"path/filepath"

	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// metricsOptions returns how the metrics are served. A certificate that was asked for and is not
// there is an error: otherwise one that nobody has signed would stand in.
func (o Options) metricsOptions() (metricsserver.Options, error) {
	out := metricsserver.Options{BindAddress: o.MetricsAddress}
	if !o.MetricsSecure || o.MetricsAddress == "0" {
		return out, nil
	}
	out.SecureServing = true
	out.FilterProvider = metricsAuth
	out.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	if o.MetricsCertPath == "" {
		return out, nil
	}
	out.CertDir = o.MetricsCertPath
	if _, err := tls.LoadX509KeyPair(filepath.Join(out.CertDir, "tls.crt"), filepath.Join(out.CertDir, "tls.key")); err != nil {
		return out, fmt.Errorf("reading the certificate of the metrics: %w", err)
	}
	return out, nil
}
