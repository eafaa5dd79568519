package explain

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

// Write writes a report for people. With full, fields of other managers are all listed,
// else a few of them.
func Write(w io.Writer, r *Report, full bool) error {
	p := &printer{full: full}
	p.line(0, "%s (%s)", r.Resource, r.Kind)
	for _, err := range r.Errors {
		p.line(1, "nothing of it is applied: %s", err)
	}
	p.conditions(r.Conditions)
	for _, f := range r.Files {
		p.file(f)
	}
	if len(r.Rest) > 0 {
		p.line(0, "\nlive, and not rendered now")
	}
	for _, l := range r.Rest {
		from := ""
		if l.File != "" {
			from = ", once made by " + l.File + ".yaml"
		}
		p.line(1, "%s%s: %s", l.Object, from, l.Fate)
		p.live(2, &l)
	}
	for _, note := range r.Notes {
		p.line(0, "note: %s", note)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// conditions says of each condition why, all that there is a line for each, once.
func (p *printer) conditions(all []Condition) {
	said := map[string]bool{}
	for _, c := range all {
		message := c.Message
		if said[message] {
			message = ""
		}
		said[message] = true
		parts := strings.Split(message, "; ")
		p.line(1, "%s %s%s", c.Type, c.Status, reasonText(c.Reason, parts[0]))
		for _, part := range parts[1:] {
			p.line(2, "%s", part)
		}
	}
}

func reasonText(reason, message string) string {
	if reason == "" && message == "" {
		return ""
	}
	if message == "" {
		return ": " + reason
	}
	return ": " + reason + ": " + message
}

type printer struct {
	strings.Builder
	full bool
}

func (p *printer) line(depth int, format string, args ...any) {
	fmt.Fprintf(p, strings.Repeat("  ", depth)+format+"\n", args...)
}

func (p *printer) file(f File) {
	p.line(0, "\n%s: %s", f.File, f.Verdict)
	if f.Place != nil {
		p.line(1, "%s: %s%s", f.Place, f.Message, withinText(f.Within))
	} else if f.Message != "" {
		p.line(1, "%s", f.Message)
	}
	for _, d := range f.Documents {
		patch := ""
		if d.Patch != "" {
			patch = " (patch of " + d.Patch + ")"
		}
		p.line(1, "makes %s%s at %s%s", d.Object, patch, d.Place, withinText(d.Because))
		if d.Live != nil && d.Live.Fate != "" && !d.Live.Deleting {
			p.line(2, "%s", d.Live.Fate)
		}
		if d.Unknown != "" {
			p.line(2, "not known: %s", d.Unknown)
		}
		p.live(2, d.Live)
	}
	for _, l := range f.LeftOut {
		if l.By == nil {
			p.line(1, "leaves out %s at %s, which it did not come to", l.Kind, l.Place)
			continue
		}
		p.line(1, "leaves out %s at %s: %s %s is %s%s", l.Kind, l.Place, l.By.Place, l.By.Text, l.By.Outcome, cameText(l.By.Came))
	}
	for _, b := range f.Branches {
		p.branch(1, b)
	}
}

// withinText says by which branches something was come to.
func withinText(turns []Turn) string {
	var all []string
	for _, t := range turns {
		all = append(all, fmt.Sprintf("%d:%d %s", t.Line, t.Column, t.Outcome))
	}
	if all == nil {
		return ""
	}
	return ", by " + strings.Join(all, ", ")
}

func cameText(texts ...string) string {
	if text := strings.Join(texts, ", "); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// elseIf is the text of a branch that goes on with another one.
var elseIf = regexp.MustCompile(`^\{\{-?\s*else\b`)

func (p *printer) branch(depth int, b *Branch) {
	by := ""
	for _, c := range b.Calls {
		by += ", called at " + c.String()
	}
	p.line(depth, "%s: %s: %s%s%s", b.Place, b.Text, b.Outcome, cameText(b.Came...), by)
	for _, below := range b.Taken {
		p.branch(depth+1, below)
	}
	for _, below := range b.NotTaken {
		if elseIf.MatchString(below.Text) {
			p.branch(depth, below)
		} else {
			p.branch(depth+1, below)
		}
	}
}

// live says what there is to say of a live object.
func (p *printer) live(depth int, l *Live) {
	if l == nil {
		return
	}
	var said []string
	if l.Ready != "" {
		said = append(said, strings.TrimSuffix(l.Ready+": "+l.Message, ": "))
	} else if l.Message != "" {
		said = append(said, l.Message)
	}
	if l.Deleting {
		said = append(said, "it is being deleted")
	}
	if l.Applied != "" {
		said = append(said, "last applied "+l.Applied)
	}
	if len(said) > 0 {
		p.line(depth, "%s", strings.Join(said, "; "))
	}
	if len(l.Taken) > 0 {
		p.line(depth, "taken from it: %s", p.some(l.Taken))
	}
	if len(l.Beside) > 0 {
		p.line(depth, "added by others: %s", p.some(l.Beside))
	}
	for _, o := range l.Others {
		p.line(depth, "%s%s owns %s", o.Manager, operationText(o), p.some(o.Paths))
	}
}

func operationText(o ownership.Owner) string {
	text := strings.ToLower(o.Operation)
	if o.Subresource != "" {
		text += " of " + o.Subresource
	}
	if o.Time != "" {
		text += ", " + o.Time
	}
	return " (" + text + ")"
}

// fewFields is how many fields are listed if not all are asked for.
const fewFields = 6

func (p *printer) some(paths []string) string {
	if p.full || len(paths) <= fewFields+1 {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:fewFields], ", "), len(paths)-fewFields)
}
