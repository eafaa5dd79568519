package laws

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

const glossary = "docs/glossary.md"

// ownWords are the words that the project needs besides those of Kubernetes.
var ownWords = []string{
	"kind", "folder", "child", "owner", "render", "plan", "apply", "prune", "digest", "wave", "golden case", "sealed", "skeleton", "hole",
	"refusal", "create-only", "update-only", "await", "wait", "stable", "rendered",
}

// defined matches a row of the glossary: a word and its definition.
var defined = regexp.MustCompile(`(?m)^\| \*\*([^*]+)\*\* \| (.*) \|$`)

// TestWordsAreDefined: the glossary defines each word of the project's own, by
// one sentence that uses the word, and none twice.
func TestWordsAreDefined(t *testing.T) {
	var words []string
	for _, m := range defined.FindAllStringSubmatch(string(read(t, glossary)), -1) {
		word, meaning := m[1], m[2]
		if slices.Contains(words, word) {
			t.Errorf("%s: defines %q twice", glossary, word)
		}
		words = append(words, word)
		if strings.Contains(meaning, ". ") || !strings.HasSuffix(meaning, ".") {
			t.Errorf("%s: the definition of %q is not one sentence", glossary, word)
		}
		stem, _, _ := strings.Cut(strings.TrimSuffix(word, "ed"), " ")
		if !strings.Contains(strings.ToLower(meaning), stem) {
			t.Errorf("%s: the definition of %q does not use the word", glossary, word)
		}
	}
	for _, word := range ownWords {
		if !slices.Contains(words, word) {
			t.Errorf("%s: does not define %q", glossary, word)
		}
	}
}

// An oldWord is an expression that the documents no longer use.
type oldWord struct {
	old    *regexp.Regexp
	better string // what to write instead
}

// oldWords are expressions of the project's former private dialect, and some that
// few readers know. Each is free of false alarms in prose.
var oldWords = []oldWord{
	{old(`(a|the|this|that|its|each|every|one|next|last|new|whole) turns?`), "reconciliation"},
	{old(`pok(e|es|ed|ing)`), "trigger"},
	{old(`w(akes?|oken)`), "trigger, requeue"},
	{old(`setbacks?`), "failed write, back-off"},
	{old(`homeless`), "its namespace is not ready"},
	{old(`offspring`), "children"},
	{old(`outbox`), "write overlay"},
	{old(`trials?`), "preview"},
	{old(`rehears(e|es|ed|al|als|ing)`), "dry run"},
	{old(`lookAgain`), "resyncInterval"},
	{old(`red switch`), "pausing, emergency stop"},
	{old(`giv(e|es|en|ing) back|gave back`), "release"},
	{old(`lets? (it|them) go|letting go`), "release, delete"},
	{old(`made (anew|again)`), "recreated"},
	{old(`anew`), "again"},
	{old(`shall`), "must, is to, or the present tense"},
	{old(`who(so)?ever|whomever`), "a user who, anyone who, or the role's name"},
	{old(`habits?`), "practice, idiom, style"},
	{old(`(speaks?|spoke|tells?|told) of`), "describe, report, mention"},
	{old(`says? nothing of`), "does not mention"},
	{old(`as ever`), "as before, as usual"},
	{old(`br(ing|ings|inging|ought) (it )?about`), "cause"},
	{old(`(it|that|which) (is|are) no (error|exception|finding|part|problem|text|YAML)s?`), "is not a"},
	{old(`surveys?`), "live view"},
}

// old matches an expression as whole words, in upper or lower case.
func old(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + expression + `)\b`)
}

var (
	// blocks matches a block of code, inlined a span of code or a link's target.
	blocks  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	inlined = regexp.MustCompile("`[^`\n]+`|\\]\\([^)\n]*\\)")
	// filler is all that keeps a text's lines where they are.
	filler = regexp.MustCompile(`[^\n]`)
)

// prose is a document without its code and the targets of its links: names on the
// wire stay as they are. Every other character keeps its line.
func prose(text string) string {
	blank := func(code string) string { return filler.ReplaceAllString(code, "") }
	return inlined.ReplaceAllStringFunc(blocks.ReplaceAllStringFunc(text, blank), func(string) string { return "``" })
}

// TestOldWords: the documents and the help of commands use no word of the former
// dialect.
func TestOldWords(t *testing.T) {
	documents := proseFiles(t)
	if len(documents) < 20 {
		t.Errorf("only %d documents found: this test looks in the wrong place", len(documents))
	}
	for _, file := range documents {
		noOldWords(t, file, prose(string(read(t, file))))
	}
	commands := []string{}
	for _, m := range commandLine.FindAllStringSubmatch(help(t), -1) {
		commands = append(commands, m[1])
	}
	if len(commands) < 10 {
		t.Errorf("only the commands %v found: this test no longer understands the help", commands)
	}
	noOldWords(t, "jacquard --help", help(t))
	for _, name := range commands {
		noOldWords(t, "jacquard "+name+" --help", strings.Join(strings.Fields(help(t, name)), " "))
	}
}

// proseFiles are the documents that people read.
func proseFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, ".md"), func(file string) bool {
		return !slices.Contains([]string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "charts/jacquard/README.md"}, file) &&
			!strings.HasPrefix(file, "docs/") && !strings.HasPrefix(file, "examples/")
	})
}

func noOldWords(t *testing.T, where, text string) {
	t.Helper()
	for _, w := range oldWords {
		for _, at := range w.old.FindAllStringIndex(text, -1) {
			line := 1 + strings.Count(text[:at[0]], "\n")
			t.Errorf("%s:%d: says %q; write: %s", where, line, text[at[0]:at[1]], w.better)
		}
	}
}

// TestOldWordsAreFound: the law finds the words where they are prose, and not
// where they are code.
func TestOldWordsAreFound(t *testing.T) {
	text := prose("One\n```yaml\nanew: `shall`\n```\nWhoever `shall` [shall](turn.md#shall) a turn.\nThe next turns\nTells of it.\n")
	var found []string
	for _, w := range oldWords {
		for _, at := range w.old.FindAllStringIndex(text, -1) {
			found = append(found, text[at[0]:at[1]])
		}
	}
	slices.Sort(found)
	want := []string{"Tells of", "Whoever", "a turn", "next turns", "shall"}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, wanted %q", found, want)
	}
	if line := strings.Count(text[:strings.Index(text, "Whoever")], "\n"); line != 4 {
		t.Errorf("the code before it moves a line by %d", line-4)
	}
}
