// Command embedded is an operator of its own for one kind, whose folder is in
// the binary.
package main

import (
	"embed"
	"log"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/jacquard-operator/jacquard/engine"
	"github.com/jacquard-operator/jacquard/engine/folder"
)

//go:embed all:crds all:templates
var files embed.FS // all: so that partials are in it, whose names begin with _

func main() {
	ctrl.SetLogger(zap.New())
	pages, err := engine.New(engine.Options{
		Config:      ctrl.GetConfigOrDie(),
		Identity:    "pages",
		Roots:       []*folder.Root{folder.FromFS(files, "")},
		InstallCRDs: true,
	})
	if err == nil {
		err = pages.Run(ctrl.SetupSignalHandler())
	}
	if err != nil {
		log.Fatal(err)
	}
}
