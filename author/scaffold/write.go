package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// A column is one that kubectl get shows.
type column struct{ Name, Type, Path string }

// A definition is what the form of a CRD asks for.
type definition struct {
	Names Names
	// About says what a resource is.
	About   string
	Columns []column
	// Scale: there is a scale subresource. Needed: a resource must have a spec.
	// Label: the resource's name must be a label of DNS.
	Scale, Needed, Label bool
	// Ends are what its name may not end in.
	Ends []string
	// Longest is how many characters its name may have.
	Longest int
	// Spec and Status are the schemas, as YAML; Spec may be "".
	Spec, Status string
}

// write adds the files.
func (w *making) write() error {
	if w.stem == "" {
		w.stem = w.names.Singular + "-example"
	}
	for _, m := range w.all {
		w.tokens.escapeTexts(m.node)
		text, err := w.tokens.printTemplate(m.node)
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		w.draft.AddTemplate(m.file+".yaml", text)
	}
	status, err := w.writeStatus()
	if err != nil {
		return err
	}
	w.writeSettings()
	if err := w.writeExample(); err != nil {
		return err
	}
	crd, err := w.makeCRD(status)
	w.draft.addCRD(crd)
	return err
}

// CRD is the text of a CRD whose spec has one field, text, to begin with.
func CRD(n Names) (string, error) {
	return fillForm("forms/crd.yaml", definition{Names: n, About: "A " + n.Kind + ".", Longest: 63, Label: true, Needed: true,
		Spec: indentText(12, "description: What is wanted.\ntype: object\nproperties:\n  text: {type: string}")})
}

var dnsLabel = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)

// makeCRD returns the text of the CRD.
func (w *making) makeCRD(status *field) (string, error) {
	d := definition{Names: w.names, About: w.describeKinds(), Longest: w.longestName(), Needed: w.spec.isNeeded(),
		Label: dnsLabel.MatchString(w.stem), Ends: w.refusedEnds()}
	spec, err := schemaText(w.spec.openAPI())
	if err != nil {
		return "", fmt.Errorf("printing the schema: %w", err)
	}
	properties := map[string]any{}
	for _, kid := range status.kids {
		properties[kid.name] = kid.statusAPI()
	}
	told := ""
	if len(properties) > 0 {
		if told, err = propertiesText(properties); err != nil {
			return "", fmt.Errorf("printing the schema: %w", err)
		}
	}
	if len(w.spec.kids) > 0 { // else nothing reads it
		d.Spec = indentText(12, spec)
	}
	d.Status = indentText(14, told)
	for _, kid := range w.spec.kids {
		switch {
		case kid.schema == nil:
		case kid.name == "image" || kid.name == "host":
			d.Columns = append(d.Columns, column{strings.ToUpper(kid.name[:1]) + kid.name[1:], "string", ".spec." + kid.name})
		case kid.name == "replicas":
			d.Columns = append(d.Columns, column{"Replicas", "integer", ".spec.replicas"})
		}
	}
	if slices.ContainsFunc(status.kids, func(f *field) bool { return f.name == "readyReplicas" }) {
		d.Columns = append(d.Columns, column{"Running", "integer", ".status.readyReplicas"})
	}
	d.Scale = slices.ContainsFunc(status.kids, func(f *field) bool { return f.name == "selector" })
	return fillForm("forms/crd.yaml", d)
}

// describeKinds returns a sentence on the kinds of the objects of a resource.
func (w *making) describeKinds() string {
	var kinds []string
	for _, m := range w.all {
		kinds = append(kinds, m.gvk.Kind)
	}
	slices.Sort(kinds)
	return "A " + w.names.Kind + " stands for objects of these kinds: " + strings.Join(slices.Compact(kinds), ", ") + "."
}

// longestName returns how many characters the name of a resource may have, so that names made of it
// are not too long. That is 63 for labels, and less where the controller of a kind appends
// something.
func (w *making) longestName() int {
	longest := 63
	for _, m := range w.all {
		if _, derived := cutStem(m.plainName(), w.stem); derived && (m.gvk.Kind == "StatefulSet" || m.gvk.Kind == "CronJob") {
			longest = min(longest, 52-len(m.plainName())+len(w.stem))
		}
	}
	if longest < len(w.stem) {
		return 63
	}
	return longest
}

// indentText indents each line of a text that is not blank.
func indentText(by int, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", by))
		}
		b.WriteString(line)
	}
	return strings.TrimRight(b.String(), "\n")
}

// writeExample adds the example and the golden cases: that it makes what the
// manifests say, and that another of them makes things of its own.
func (w *making) writeExample() error {
	meta := map[string]any{"name": w.stem}
	if w.home != "" && w.home != "default" {
		meta["namespace"] = w.home
	}
	resource := func() (string, error) {
		object := map[string]any{"metadata": meta}
		if said := w.spec.exampleValue().(map[string]any); len(said) > 0 {
			object["spec"] = said
		}
		text, err := funcs.YAML(object)
		return fmt.Sprintf("apiVersion: %s\nkind: %s\n%s", w.names.APIVersion(), w.names.Kind, text), err
	}
	text, err := resource()
	if err != nil {
		return fmt.Errorf("printing the example: %w", err)
	}
	w.draft.addExample(text)
	meta["name"] = "another"
	if text, err = resource(); err != nil {
		return fmt.Errorf("printing the example: %w", err)
	}
	w.draft.AddTemplate("tests/another/resource.yaml", text)
	want, err := w.wantedObjects()
	w.draft.AddTemplate("tests/example/want.yaml", want)
	return err
}

// wantedObjects returns what the example must render: the objects of the manifests.
func (w *making) wantedObjects() (string, error) {
	all := slices.SortedFunc(slices.Values(w.all), func(a, b *manifest) int { return strings.Compare(a.file, b.file) })
	var texts []string
	for _, m := range all {
		text, err := funcs.YAML(m.said)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m, err)
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, "---\n"), nil
}

// writeSettings adds kind.yaml, if something must be declared.
func (w *making) writeSettings() {
	rules := w.childRules()
	if len(rules) == 0 {
		return
	}
	w.draft.AddTemplate("kind.yaml", "# What lives outside of the resource's namespace.\napiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n"+strings.Join(rules, ""))
}
