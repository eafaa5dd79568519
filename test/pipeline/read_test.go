package pipeline

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	gtext "github.com/yuin/goldmark/text"
)

// mostComment is how many characters GitHub takes.
const mostComment = 65_536

// ours are the texts outside of code that the action itself says.
var ours = regexp.MustCompile(`^[A-Za-z0-9 ,.:;%-]*$|^[✅❌⚠️]* ?[a-z :,]*$`)

// safe reads a comment as GitHub does: outside of code there is nothing but words of
// ours, and in code nothing that is not seen.
func safe(t *testing.T, comment string) {
	t.Helper()
	if n := len([]rune(comment)); n > mostComment {
		t.Errorf("the comment has %d characters", n)
	}
	for _, r := range comment {
		if r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
			t.Errorf("the comment has %U", r)
		}
	}
	source := []byte(comment)
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gtext.NewReader(source))
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if said := string(n.Value(source)); !ours.MatchString(said) {
				t.Errorf("this is outside of code: %q", said)
			}
		case *ast.Document, *ast.Heading, *ast.Paragraph, *ast.TextBlock, *ast.List, *ast.ListItem, *ast.Emphasis,
			*east.Table, *east.TableHeader, *east.TableRow, *east.TableCell:
		default:
			t.Errorf("the comment has a %s:\n%s", n.Kind(), comment)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readSARIF reads findings as others do.
func readSARIF(t *testing.T, text string) {
	t.Helper()
	report := &sarif.Report{}
	strict := json.NewDecoder(strings.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(report); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	// The library writes what is not there as "" and null, which it then refuses.
	report.Runs[0].Language, report.Runs[0].Tool.Driver.Language = "en-US", "en-US"
	report.Runs[0].NewlineSequences = []string{"\n"}
	if err := report.Validate(); err != nil {
		for line := range strings.Lines(err.Error()) {
			if strings.TrimSpace(line) != "]" && !strings.HasSuffix(strings.TrimSpace(line), "given: null") {
				t.Errorf("%s:\n%s", line, text)
			}
		}
	}
	for _, result := range report.Runs[0].Results {
		for _, l := range result.Locations {
			if uri := *l.PhysicalLocation.ArtifactLocation.URI; strings.HasPrefix(uri, "/") || strings.Contains(uri, "..") {
				t.Errorf("a finding is in %s, which is not in the repository", uri)
			}
		}
	}
}
