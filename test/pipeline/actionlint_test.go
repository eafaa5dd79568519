package pipeline

import (
	"bytes"
	"testing"

	"github.com/rhysd/actionlint"
)

func TestX(t *testing.T) {
	var out bytes.Buffer
	_, _ = actionlint.NewLinter(&out, &actionlint.LinterOptions{})
}
