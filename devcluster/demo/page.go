package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// address is what `jacquard ui` prints, with the secret of the page behind the #.
var address = regexp.MustCompile(`(http://\S+/)#(\S+)\n`)

// showPage starts `jacquard ui`, if it is wanted, and says where its page is. It opens it
// where there is a desktop.
func (d *demo) showPage(ctx context.Context) (err error) {
	if !d.ui {
		return nil
	}
	path := filepath.Join(d.root, ".bin", "jacquard")
	args := []string{"ui", "--kubeconfig", d.kubeconfigPath(), "--root", d.relativePath("site"), "--root", d.relativePath("yours"),
		"--root", d.kindsRoot()}
	if d.page, err = d.start(command{name: "ui", path: path, args: args}); err != nil {
		return err
	}
	var at []string
	err = awaitSuccess(ctx, d.limit, func() error {
		printed, err := os.ReadFile(d.page.log)
		if at = address.FindStringSubmatch(string(printed)); at == nil {
			err = errors.Join(err, errors.New("jacquard ui has printed no address"))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for the page: %w; the end of %s:\n%s", err, d.relativePath("log", "ui.log"), readTail(d.page.log))
	}
	d.screen.printStep("jacquard ui")
	if d.once { // nobody looks
		return d.checkPage(ctx, at[1], at[2])
	}
	d.address = at[1] + "#" + at[2]
	d.screen.printStep("open %s", d.address)
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil // xdg-open might start a browser in this terminal
	}
	if open, err := exec.LookPath("xdg-open"); err == nil {
		_, err := d.start(command{name: "open", path: open, args: []string{d.address}, ends: true})
		return err
	}
	return nil
}

// checkPage opens the page as a browser does, and checks that it shows the demo's cluster.
func (d *demo) checkPage(ctx context.Context, page, token string) error {
	session, err := sendRequest(ctx, page+"session", token, "")
	if err != nil {
		return fmt.Errorf("opening the page: %w", err)
	}
	about, err := sendRequest(ctx, page+"api/about", "", session)
	if err != nil {
		return fmt.Errorf("asking the page: %w", err)
	}
	if !strings.Contains(about, d.client.host) {
		return fmt.Errorf("the page does not show %s: %s", d.client.host, about)
	}
	d.screen.printStep("the page at %s shows %s", page, d.client.host)
	return nil
}

// sendRequest sends a request as the page does: a POST if there is a body. It returns the
// text of the answer.
func sendRequest(ctx context.Context, url, body, session string) (text string, err error) {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Origin", "http://"+r.URL.Host)
	r.Header.Set("Authorization", "Bearer "+session)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	all, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %s", a.Status, all)
	}
	return string(all), err
}
