package watched

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// draws asks Prometheus what every panel of the chart's dashboard asks. Each
// expression must be understood, and each panel shows something.
func (p *prometheus) draws(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), "charts", "jacquard", "files", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if len(board.Panels) == 0 {
		t.Error("the dashboard has no panels")
	}
	chosen := strings.NewReplacer("$__rate_interval", "1m", "$namespace", ".*", "$job", ".*", "$kind", ".*")
	for _, panel := range board.Panels {
		kit.Eventually(t, "the panel "+panel.Title+" shows something", func() error { // nothing does right after a scrape that took too long
			shows := false
			for _, target := range panel.Targets {
				var said struct {
					Status, Error string
					Data          struct{ Result []any }
				}
				if err := p.ask("/api/v1/query?query="+url.QueryEscape(chosen.Replace(target.Expr)), &said); err != nil {
					return err
				}
				if said.Status != "success" {
					t.Fatalf("%s: %s: %s", panel.Title, target.Expr, said.Error)
				}
				shows = shows || len(said.Data.Result) > 0
			}
			if !shows {
				return errors.New("it shows nothing")
			}
			return nil
		})
	}
}
