//go:build !operator

package cli

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// addTools adds the commands of authors and admins. The operator's image has
// none of them: it is built with the tag operator.
func addTools(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: programName(os.Args[0])}
	root.AddCommand(newAdopt(), newApprove(), newDiff(), newEject(), newExplain(), newHistory(), newLint(), newLSP(), newNew(), newPack(),
		newPull(), newPush(), newRBAC(), newRender(), newRollback(), newSchemas(), newStatus(), newSweep(), newTest(), newTree(), newUI())
	addCompletions(root)
}

// requestLimit is how long a command waits for the answer to one request, such as one
// page of a list.
var requestLimit = 10 * time.Second

// clientConfig returns the access of loadConfig to the cluster, for the clients of a command. Their
// requests are sent once, and are limited in time.
func (a *access) clientConfig() (*rest.Config, error) {
	cfg, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	return transport.Configure(cfg, requestLimit), nil
}

// loadCatalog reads folders, and settings from a file unless its name is "".
func loadCatalog(roots []string, config string) (*catalog.Catalog, error) {
	kinds, err := catalog.Load(roots)
	if err != nil || config == "" {
		return kinds, err
	}
	return kinds, kinds.Configure(config)
}

// encodeJSON writes a value as JSON, for programs and people.
func encodeJSON(to io.Writer, v any) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
