package oci_test

import (
	"os"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/e2e/oci"
)

func TestReadDockerfile(t *testing.T) {
	stage, err := oci.ReadDockerfile(`
FROM golang AS build
RUN something --unknown \
	here
# The image.
FROM scratch
ARG VERSION=dev
ARG OTHER=other
LABEL a.b="x ${VERSION} \"y\"" \
  # a comment between
      c=$OTHER
COPY --from=build /out/a /out/b /in/
USER 1:2
WORKDIR /in
ENTRYPOINT ["/in/a", "-x"]
CMD ["y"]
`, map[string]string{"VERSION": "v1"})
	if err != nil {
		t.Fatal(err)
	}
	c := stage.Config
	if stage.Base != "scratch" || c.User != "1:2" || c.WorkingDir != "/in" || strings.Join(c.Entrypoint, " ") != "/in/a -x" ||
		strings.Join(c.Cmd, " ") != "y" {
		t.Errorf("the stage is %+v", stage)
	}
	if len(c.Labels) != 2 || c.Labels["a.b"] != `x v1 "y"` || c.Labels["c"] != "other" {
		t.Errorf("the labels are %q", c.Labels)
	}
	if len(stage.Copies) != 1 || stage.Copies[0].From != "build" || len(stage.Copies[0].Sources) != 2 || stage.Copies[0].Target != "/in/" {
		t.Errorf("the copies are %+v", stage.Copies)
	}
}

func TestReadDockerfileRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":                             "there is no FROM",
		"FROM scratch\nRUN x\n":        "RUN: this instruction is not known",
		"FROM scratch\nUSER 1\nCMD x":  "CMD: invalid character",
		"FROM scratch\nLABEL a\n":      `LABEL: "a" is no key=value`,
		"FROM scratch\nCOPY --x a b\n": "COPY: [--from=STAGE]",
	} {
		if _, err := oci.ReadDockerfile(text, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: the error is %v; it should say %q", text, err, says)
		}
	}
}

// TestAddLibraries: a dynamic program's loader comes along; a text is passed
// over.
func TestAddLibraries(t *testing.T) {
	if _, err := os.Stat("/usr/bin/ldd"); err != nil {
		t.Skip("there is no ldd")
	}
	var files oci.Files
	if err := files.AddLibraries("/bin/sh", "oci_test.go"); err != nil {
		t.Fatal(err)
	}
	found := strings.Join(files.Names(), "\n")
	if !strings.Contains(found, "libc.") || !strings.Contains(found, "/ld-") {
		t.Errorf("the libraries of sh are\n%s", found)
	}
}
