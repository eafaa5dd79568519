package oci

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// A Stage is what the last stage of a Dockerfile says of the image.
type Stage struct {
	Base   string
	Config v1.Config
	Copies []Copy
}

// A Copy is an instruction that copies files into the image.
type Copy struct {
	From    string // the stage, or "" for the folder of the Dockerfile
	Sources []string
	Target  string
}

// ReadDockerfile reads the last stage of a Dockerfile, so that what is said
// there holds for images that are built without Docker too. Args are the build
// arguments. An instruction that it does not know is an error.
func ReadDockerfile(text string, args map[string]string) (Stage, error) {
	text = regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(text, "")
	r := stageReader{given: args}
	for line := range strings.Lines(text) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if instruction == "FROM" {
			fields := strings.Fields(rest)
			r.stage, r.args, r.trouble = Stage{Base: fields[0]}, map[string]string{}, nil
			continue
		}
		if err := r.read(instruction, strings.TrimSpace(rest)); err != nil && r.trouble == nil {
			r.trouble = fmt.Errorf("reading the Dockerfile's %s: %w", instruction, err)
		}
	}
	if r.trouble == nil && r.stage.Base == "" {
		return Stage{}, fmt.Errorf("reading the Dockerfile: there is no FROM")
	}
	return r.stage, r.trouble
}

// A stageReader reads one stage after the other and keeps the last.
type stageReader struct {
	given   map[string]string
	args    map[string]string
	stage   Stage
	trouble error // the first of the stage
}

func (r *stageReader) read(instruction, rest string) error {
	config := &r.stage.Config
	switch instruction {
	case "":
	case "ARG":
		name, value, _ := strings.Cut(rest, "=")
		if given, ok := r.given[name]; ok {
			value = given
		}
		r.arg(name, value)
	case "USER":
		config.User = r.expand(rest)
	case "WORKDIR":
		config.WorkingDir = r.expand(rest)
	case "ENTRYPOINT":
		return json.Unmarshal([]byte(rest), &config.Entrypoint)
	case "CMD":
		return json.Unmarshal([]byte(rest), &config.Cmd)
	case "LABEL":
		labels, err := r.pairs(rest)
		config.Labels = labels
		return err
	case "COPY":
		return r.copied(strings.Fields(rest))
	default:
		return fmt.Errorf("this instruction is not known here")
	}
	return nil
}

func (r *stageReader) arg(name, value string) {
	if r.args == nil {
		r.args = map[string]string{}
	}
	r.args[name] = value
}

func (r *stageReader) expand(text string) string {
	return os.Expand(text, func(name string) string { return r.args[name] })
}

var pair = regexp.MustCompile(`([\w.-]+)=("(?:[^"\\]|\\.)*"|\S+)`)

// pairs reads key="value" key=value …
func (r *stageReader) pairs(text string) (map[string]string, error) {
	if left := strings.TrimSpace(pair.ReplaceAllString(text, "")); left != "" {
		return nil, fmt.Errorf("%q is no key=value", left)
	}
	found := map[string]string{}
	for _, m := range pair.FindAllStringSubmatch(text, -1) {
		value := m[2]
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		found[m[1]] = r.expand(value)
	}
	return found, nil
}

func (r *stageReader) copied(words []string) error {
	var c Copy
	if len(words) > 0 {
		if from, ok := strings.CutPrefix(words[0], "--from="); ok {
			c.From, words = from, words[1:]
		}
	}
	if len(words) < 2 || strings.HasPrefix(words[0], "-") {
		return fmt.Errorf("[--from=STAGE] SOURCE… TARGET was expected")
	}
	c.Sources, c.Target = words[:len(words)-1], words[len(words)-1]
	r.stage.Copies = append(r.stage.Copies, c)
	return nil
}
