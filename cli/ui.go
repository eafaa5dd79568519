//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/admin/ui"
	"github.com/jacquard-operator/jacquard/engine/folder"
)

type uiOptions struct {
	access
	operatorNamespace string
	port              uint16
	roots             []string
}

func newUI() *cobra.Command {
	var o uiOptions
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show kinds and resources in a browser",
		Long: `Serve a page that shows the kinds of operators and their resources, and keeps up
with them, at 127.0.0.1, with the rights of the kubeconfig. It prints the address to
open, which is good for one browser. It ends when interrupted.

The page shows what status, tree, history, explain and diff tell. Its buttons pause,
resume and reconcile resources, approve rollouts and roll back. Each shows first
what it would do, and the command for that.

Values of Secrets are never shown.`,
		Example: "  jacquard ui\n  jacquard ui --port 8080 --context staging",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.addFlags(cmd)
	moreRoots(cmd, &o.roots)
	operatorNamespaceFlag(cmd, &o.operatorNamespace, "", "only look for operators, and for revisions, in this namespace; default all")
	cmd.Flags().Uint16Var(&o.port, "port", 0, "port to listen on; 0 is any that is free")
	return cmd
}

// headerTime is how long a request may take to say what it wants.
const headerTime = 10 * time.Second

func (o *uiOptions) run(cmd *cobra.Command) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := o.clientConfig()
	if err != nil {
		return err
	}
	folders := func() (map[string]*folder.Folder, error) { return foldersIn(o.roots) }
	if _, err := folders(); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", o.port))
	if err != nil {
		return fmt.Errorf("listening for the browser: %w; another --port may be free", err)
	}
	guard := ui.NewGuard(listener.Addr().(*net.TCPAddr).Port)
	server := ui.New(ui.Options{Config: cfg, Context: o.currentContext(), Namespace: (&reach{access: o.access}).chooseNamespace(),
		OperatorNamespace: o.operatorNamespace, Folders: folders, Program: Version()})
	web := &http.Server{Handler: server.Handler(guard), ReadHeaderTimeout: headerTime,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	fmt.Fprintln(cmd.OutOrStdout(), guard.URL())
	fmt.Fprintln(cmd.ErrOrStderr(), "Open this address in a browser; it works once. Ctrl-C ends the page.")
	watched := make(chan error, 1)
	go func() { watched <- server.Run(ctx) }()
	select {
	case <-ctx.Done():
	case err = <-served:
		stop()
	case err = <-watched:
		stop()
	}
	return errors.Join(err, web.Close())
}

// currentContext returns the name of the context, or "" if there is none.
func (a *access) currentContext() string {
	if a.context != "" {
		return a.context
	}
	raw, err := a.newLoader().RawConfig()
	if err != nil {
		return ""
	}
	return raw.CurrentContext
}
