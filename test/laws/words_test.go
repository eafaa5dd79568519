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
