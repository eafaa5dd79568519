package cli

import (
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// mostLogged is the highest level: from the next one on, client-go logs the bodies of
// requests and answers, which hold Secrets.
const mostLogged = 7

// newLogger returns a logger that writes JSON, to which client-go logs too. An error names its
// place by itself, so only a panic is logged with its stack.
func newLogger(to io.Writer, level string) (logr.Logger, error) {
	options := zap.Options{DestWriter: to}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	options.BindFlags(flags)
	err := flags.Set("zap-log-level", level)
	if n, wrong := strconv.Atoi(level); wrong == nil && n > mostLogged {
		err = fmt.Errorf("above %d the bodies of requests are logged, and with them Secrets", mostLogged)
	}
	if err != nil {
		return logr.Logger{}, fmt.Errorf("--log-level %q: it must be error, info, debug, or a number from 1 to %d: %w", level, mostLogged, err)
	}
	if err := flags.Set("zap-stacktrace-level", "panic"); err != nil {
		return logr.Logger{}, err
	}
	l := zap.New(zap.UseFlagOptions(&options))
	klog.SetLogger(l)
	return l, nil
}
