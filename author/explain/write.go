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
	p.printLine(0, "%s (%s)", r.Resource, r.Kind)
	for _, err := range r.Errors {
		p.printLine(1, "nothing of it is applied: %s", err)
	}
	p.printConditions(r.Conditions)
	for _, f := range r.Files {
		p.printFile(f)
	}
	if len(r.Rest) > 0 {
		p.printLine(0, "\nlive, and not rendered now")
	}
	for _, l := range r.Rest {
		from := ""
		if l.File != "" {
			from = ", once made by " + l.File + ".yaml"
		}
		p.printLine(1, "%s%s: %s", l.Object, from, l.Fate)
		p.printLive(2, &l)
	}
	for _, note := range r.Notes {
		p.printLine(0, "note: %s", note)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// printConditions prints each condition and its reason. It prints each part of a message on a line
// of its own, and no message twice.
func (p *printer) printConditions(all []Condition) {
	said := map[string]bool{}
	for _, c := range all {
		message := c.Message
		if said[message] {
			message = ""
		}
		said[message] = true
		parts := strings.Split(message, "; ")
		p.printLine(1, "%s %s%s", c.Type, c.Status, reasonText(c.Reason, parts[0]))
		for _, part := range parts[1:] {
			p.printLine(2, "%s", part)
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

// printLine prints a line, indented by depth.
func (p *printer) printLine(depth int, format string, args ...any) {
	fmt.Fprintf(p, strings.Repeat("  ", depth)+format+"\n", args...)
}

// printFile prints what became of a file, what it makes and leaves out, and its branches.
func (p *printer) printFile(f File) {
	p.printLine(0, "\n%s: %s", f.File, f.Verdict)
	if f.Place != nil {
		p.printLine(1, "%s: %s%s", f.Place, f.Message, withinText(f.Within))
	} else if f.Message != "" {
		p.printLine(1, "%s", f.Message)
	}
	for _, d := range f.Documents {
		patch := ""
		if d.Patch != "" {
			patch = " (patch of " + d.Patch + ")"
		}
		p.printLine(1, "makes %s%s at %s%s", d.Object, patch, d.Place, withinText(d.Because))
		if d.Live != nil && d.Live.Fate != "" && !d.Live.Deleting {
			p.printLine(2, "%s", d.Live.Fate)
		}
		if d.Unknown != "" {
			p.printLine(2, "not known: %s", d.Unknown)
		}
		p.printLive(2, d.Live)
	}
	for _, l := range f.LeftOut {
		if l.By == nil {
			p.printLine(1, "leaves out %s at %s, which it did not come to", l.Kind, l.Place)
			continue
		}
		p.printLine(1, "leaves out %s at %s: %s %s is %s%s", l.Kind, l.Place, l.By.Place, l.By.Text, l.By.Outcome, cameText(l.By.Came))
	}
	for _, b := range f.Branches {
		p.printBranch(1, b)
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

// printBranch prints a branch, and those that lie in it below.
func (p *printer) printBranch(depth int, b *Branch) {
	by := ""
	for _, c := range b.Calls {
		by += ", called at " + c.String()
	}
	p.printLine(depth, "%s: %s: %s%s%s", b.Place, b.Text, b.Outcome, cameText(b.Came...), by)
	for _, below := range b.Taken {
		p.printBranch(depth+1, below)
	}
	for _, below := range b.NotTaken {
		if elseIf.MatchString(below.Text) {
			p.printBranch(depth, below)
		} else {
			p.printBranch(depth+1, below)
		}
	}
}

// printLive prints what is known of a live object.
func (p *printer) printLive(depth int, l *Live) {
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
		p.printLine(depth, "%s", strings.Join(said, "; "))
	}
	if len(l.Taken) > 0 {
		p.printLine(depth, "taken from it: %s", p.joinPaths(l.Taken))
	}
	if len(l.Beside) > 0 {
		p.printLine(depth, "added by others: %s", p.joinPaths(l.Beside))
	}
	for _, o := range l.Others {
		p.printLine(depth, "%s%s owns %s", o.Manager, operationText(o), p.joinPaths(o.Paths))
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

// joinPaths joins the paths of fields. Without full, it lists only a few of many.
func (p *printer) joinPaths(paths []string) string {
	if p.full || len(paths) <= fewFields+1 {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:fewFields], ", "), len(paths)-fewFields)
}
