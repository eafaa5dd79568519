package golden

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

// A Verdict is what is to be said of a golden case.
type Verdict struct {
	Findings []Finding
	// Writes are what an update would write.
	Writes []Write
}

// A Finding is one thing that is not as it is wanted.
type Finding struct {
	// Text is a sentence, and perhaps a diff below it.
	Text string
	// Mends: an update would make it as wanted.
	Mends bool
}

// A Write is one file of a case that an update would write, or remove.
type Write struct {
	File, Text string
	Remove     bool
	// Loud is what must be said of it, if it wants what nobody may want; "" else.
	Loud string
}

// loud is what is said of new files that nobody may want.
var loud = map[string]string{
	catalog.FileWantError:   "THIS CASE FAILS, and now wants to",
	catalog.FileWantWaiting: "THIS CASE WAITS, and now wants to",
}

// Judge compares what a case came to with what it wants. said are the messages
// of the outcome's error. The error is about the wanted files.
func Judge(one *catalog.Case, out *catalog.Outcome, said []string) (*Verdict, error) {
	v := &Verdict{}
	named := func(file string) string { return filepath.Base(one.Path(file)) }
	_, want := one.Wants[catalog.FileWant]
	wanted, wantError := one.Wants[catalog.FileWantError]
	switch {
	case out.Err != nil && wantError:
		v.checkMessages(named(catalog.FileWantError), wanted, said)
	case out.Err != nil:
		v.addFinding(!want, "it does not render:\n%s", strings.Join(said, "\n"))
		if !want {
			v.writeError(said, loud[catalog.FileWantError])
		}
	case wantError:
		v.addFinding(false, "it renders, but %s wants an error", named(catalog.FileWantError))
	default:
		if !want {
			v.addFinding(true, "there is neither %s nor %s: write one, or run with --update", named(catalog.FileWant), named(catalog.FileWantError))
		}
		return v, v.compareFiles(one, out)
	}
	return v, nil
}

// addFinding adds a finding. mends means that an update would make it as wanted.
func (v *Verdict) addFinding(mends bool, format string, args ...any) {
	v.Findings = append(v.Findings, Finding{Text: fmt.Sprintf(format, args...), Mends: mends})
}

// checkMessages checks that every wanted line is part of a message.
func (v *Verdict) checkMessages(file, wanted string, said []string) {
	all := strings.Join(said, "\n")
	missing := strings.TrimSpace(wanted) == ""
	for line := range strings.Lines(wanted) {
		missing = missing || !strings.Contains(all, strings.TrimSpace(line))
	}
	if missing {
		v.addFinding(true, "%s wants:\n%s\nbut it said:\n%s", file, strings.TrimSpace(wanted), all)
		v.writeError(said, "")
	}
}

// place is the position at the beginning of a message, which may move.
var place = regexp.MustCompile(`^\S+?:\d+(:\d+)?: `)

func (v *Verdict) writeError(said []string, loud string) {
	v.Writes = append(v.Writes, Write{File: catalog.FileWantError, Text: WantError(said), Loud: loud})
}

// WantError is the text of a want-error.txt that wants these messages.
func WantError(said []string) string {
	var b strings.Builder
	for _, line := range said {
		b.WriteString(place.ReplaceAllString(line, "") + "\n")
	}
	return b.String()
}

// compareFiles compares what was rendered with each file that wants something. Without
// want-status.yaml the status is not compared, and without want-waiting.txt nothing may wait. An
// update writes both.
func (v *Verdict) compareFiles(one *catalog.Case, out *catalog.Outcome) error {
	for _, file := range []string{catalog.FileWant, catalog.FileWantWaiting, catalog.FileWantStatus} {
		text, there := one.Wants[file]
		got := out.Got[file]
		name := one.Path(file)
		want, err := catalog.Canonical(name, text)
		if err == nil && want == got && (there || got == "" && file != catalog.FileWant) {
			continue
		}
		v.write(file, got, there)
		switch {
		case err != nil:
			v.addFinding(true, "%v", err)
		case file == catalog.FileWant && there:
			err = v.compareChildren(name, text, out)
		case file == catalog.FileWantStatus && there:
			err = v.compareStatus(name, text, out)
		case file == catalog.FileWantWaiting:
			v.addFinding(true, "%s",
				appendDiff("other files wait than are wanted to, or for something else", side{name, want}, side{"rendered", got}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *Verdict) write(file, got string, there bool) {
	w := Write{File: file, Text: got, Remove: file == catalog.FileWantWaiting && got == ""}
	if !there {
		w.Loud = loud[file]
	}
	v.Writes = append(v.Writes, w)
}

// A side is one of two texts that differ, and how the diff calls it.
type side struct{ name, text string }

// appendDiff puts a unified diff below a sentence.
func appendDiff(sentence string, a, b side) string {
	_, hunks, _ := strings.Cut(string(diff.Diff(a.name, []byte(a.text), b.name, []byte(b.text))), "\n")
	return sentence + "\n" + hunks
}
