package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// TestLogHoldsNoBodies: at no level are bodies of requests and answers logged, as
// client-go does from 8 on: they hold Secrets.
func TestLogHoldsNoBodies(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"key":"canary-read"}}`)) //nolint:errcheck // the client says so
	}))
	defer server.Close()
	defer klog.ClearLogger()
	known := 0
	for level := range 13 {
		var out bytes.Buffer
		l, err := newLogger(&out, strconv.Itoa(level))
		if err != nil {
			continue
		}
		client := kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL, BearerToken: "canary-token",
			ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, StringData: map[string]string{"key": "canary-written"}}
		if _, err := client.CoreV1().Secrets("ns").Create(logr.NewContext(context.Background(), l), secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		known++
		if strings.Contains(out.String(), "canary") {
			t.Errorf("--log-level %d: %s", level, out.String())
		}
	}
	if known == 0 {
		t.Error("no level is known")
	}
}
