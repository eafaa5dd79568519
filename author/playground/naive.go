package playground

import (
	"fmt"
	"path"
	"strings"
	"text/template"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

// maxNaive is how many bytes text/template may print of one file: it has no bound itself.
const maxNaive = 1 << 20

// renderNaively returns what a tool makes of a resource that prints values into text, as
// text/template does. Such a tool would then read the text as YAML.
func renderNaively(loaded *catalog.Catalog, r *catalog.Resource) string {
	var all strings.Builder
	for _, file := range loaded.Folder(r.Kind.Name).Children {
		fmt.Fprintf(&all, "---\n# %s, printed by Go's text/template\n", path.Base(file.Name))
		parsed, err := template.New(file.Name).Parse(string(file.Data))
		if err == nil {
			err = parsed.Execute(&bounded{to: &all, left: maxNaive}, r.Object.Object)
		}
		if err != nil {
			fmt.Fprintf(&all, "# %v\n", err)
		}
	}
	return all.String()
}

// A bounded writer refuses what is more than it may take.
type bounded struct {
	to   *strings.Builder
	left int
}

// Write takes all of the bytes or none.
func (b *bounded) Write(data []byte) (int, error) {
	if b.left -= len(data); b.left < 0 {
		return 0, fmt.Errorf("it prints more than %d bytes", maxNaive)
	}
	return b.to.Write(data)
}
