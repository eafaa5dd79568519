package e2e_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// metrics: whoever has the role of the chart reads the metrics of the operator,
// and nobody else does.
func metrics(t *testing.T, n *realNode) {
	n.kubectl(t, "create", "serviceaccount", "scraper")
	token := n.kubectl(t, "create", "token", "scraper")
	for name, p := range n.operators(t) {
		url := "https://" + p.Status.PodIP + ":8443/metrics"
		if status, _ := scrape(t, url, ""); status != http.StatusUnauthorized {
			t.Errorf("to nobody %s answers %d", name, status)
		}
		if status, _ := scrape(t, url, token); status != http.StatusForbidden {
			t.Errorf("to an account without rights %s answers %d", name, status)
		}
	}
	n.kubectl(t, "create", "clusterrolebinding", "scraper", "--clusterrole=jacquard:metrics-reader", "--serviceaccount=default:scraper")
	other := n.kubectl(t, "create", "token", "scraper") // what a token may do is remembered for a while
	for _, p := range n.operators(t) {
		eventually(t, "the metrics are served", func() error {
			_, text := scrape(t, "https://"+p.Status.PodIP+":8443/metrics", other)
			if !strings.Contains(text, "jacquard_resources{") {
				return errNoMetrics(text)
			}
			return nil
		})
	}
}

type errNoMetrics string

func (e errNoMetrics) Error() string { return "there are no metrics of resources: " + string(e) }

// scrape gets metrics with a token, and returns the status and the text.
func scrape(t *testing.T, url, token string) (int, string) {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate signs itself
	}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
