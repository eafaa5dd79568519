package confirm

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"golang.org/x/term"
)

// IsTerminal reports whether a person can be asked: both streams are a terminal.
func IsTerminal(in io.Reader, out io.Writer) bool {
	for _, stream := range []any{in, out} {
		file, ok := stream.(*os.File)
		if !ok || !term.IsTerminal(int(file.Fd())) {
			return false
		}
	}
	return true
}

// Ask asks a question and reports whether the answer is yes. No answer is no.
func Ask(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "%s [y/N] ", question)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil { // the prompt's line is still open
		fmt.Fprintln(out)
		return false
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	}
	return false
}

// CommandLine returns words as a shell reads them. Words without a meaning to shells
// are not quoted.
func CommandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; !plainWord.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)
