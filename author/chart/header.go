package chart

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

var (
	chartLine   = regexp.MustCompile(`(?m)^[ \t]*["']?helm\.sh/(?:chart|hook[a-z-]*)["']?:[^\n]*(?:\n|$)`)
	helmLine    = regexp.MustCompile(`(?m)^[ \t]*["']?(?:[a-z]+\.kubernetes\.io/managed-by|heritage)["']?:[ \t]*["']?(Helm|Tiller)["']?[ \t]*$`)
	policyLine  = regexp.MustCompile(`(?m)^[ \t]*(["']?helm\.sh/resource-policy["']?:[ \t]*["']?keep["']?)[ \t]*$`)
	computedAPI = regexp.MustCompile(`(?m)^apiVersion:[ \t]*(["']?\{\{[^\n]*\}\}["']?)[ \t]*$`)
)

// rewriteLabels adapts labels and annotations that mark an object as made by Helm.
func (r *rewriter) rewriteLabels() {
	for _, m := range chartLine.FindAllStringIndex(r.text, -1) {
		if r.isBalanced(span{m[0], m[1]}) {
			r.delete(span{m[0], m[1]})
		}
	}
	for _, m := range helmLine.FindAllStringSubmatchIndex(r.text, -1) {
		r.replaceSpan(span{m[2], m[3]}, writtenBy)
	}
	for _, m := range policyLine.FindAllStringSubmatchIndex(r.text, -1) {
		r.replaceSpan(span{m[2], m[3]}, "jacquard.dev/on-delete: keep")
	}
}

// rewriteHeader replaces a computed apiVersion by the literal that it is for every cluster.
func (r *rewriter) rewriteHeader(d *document) {
	for _, m := range computedAPI.FindAllStringSubmatchIndex(r.textOf(d.span), -1) {
		at := span{d.from + m[2], d.from + m[3]}
		if r.isGone(at.from) {
			continue
		}
		found := r.apiVersions(at)
		kind := r.kindNear(d.span, at.from)
		text := newestVersion(found, kind)
		if text == "" {
			text = builtIn(kind)
		}
		if text == "" {
			r.left = true
			r.conversion.addNote(Note{File: r.source.name, Line: r.lineAt(at.from), What: "a computed apiVersion",
				Do: "the file is left out: write each apiVersion and kind that there may be literally, in branches of `if`"})
			return
		}
		r.source.noteAt(at.from, "a computed apiVersion of "+kind, "it is "+text+" now, since it must be literal")
		r.replaceSpan(at, text)
	}
	r.chooseAPI(d)
	if d.kind == "" && !r.left {
		r.left = true
		r.conversion.addNote(Note{File: r.source.name, Line: r.lineAt(d.from), What: "a computed kind",
			Do: "the file is left out: write each apiVersion and kind that there may be literally, in branches of `if`"})
	}
}

// apiVersions are those that an expression may give.
func (r *rewriter) apiVersions(at span) []string {
	var found []string
	for _, m := range regexp.MustCompile(`(?:include|template)\s+"([^"]+)"`).FindAllStringSubmatch(r.textOf(at), -1) {
		if d := r.conversion.defines[m[1]]; d != nil {
			more, _ := r.printedVersions(d.tree.Root, 0)
			found = append(found, more...)
		}
	}
	for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(r.textOf(at), -1) {
		found = append(found, m[1])
	}
	for _, m := range regexp.MustCompile(`\.Values\.([\w.]+)`).FindAllStringSubmatch(r.textOf(at), -1) {
		if n := nodeAt(r.values, strings.Split(m[1], ".")); n != nil {
			found = append(found, n.Value)
		}
	}
	return slices.DeleteFunc(found, func(s string) bool { return !apiVersionText.MatchString(s) })
}

// builtIn is the apiVersion that has a kind in every cluster, if just one has.
func builtIn(kind string) string {
	found := ""
	for _, e := range every {
		gvk := (&document{apiVersion: e, kind: kind}).groupVersionKind()
		if kind != "" && schema.BuiltIn(gvk) {
			found = newestVersion(append([]string{e}, found), kind)
		}
	}
	return found
}

var onlyAPI = regexp.MustCompile(`^\s*apiVersion:[ \t]*["']?([a-z0-9./-]+)["']?\s*$`)

// chooseAPI takes the newest of the apiVersions that an undecided if chooses
// among.
func (r *rewriter) chooseAPI(d *document) {
	for _, from := range slices.Sorted(keysOf(r.blocks)) {
		b := r.blocks[from]
		if b[0].word != "if" || from < d.from || from >= d.to || r.isGone(from) {
			continue
		}
		var found []string
		for i, a := range b[:len(b)-1] {
			if m := onlyAPI.FindStringSubmatch(r.textOf(span{a.to, b[i+1].from})); m != nil && !r.isGone(a.from) {
				found = append(found, m[1])
			}
		}
		if len(found) == 0 {
			continue
		}
		end := b[len(b)-1]
		text := newestVersion(found, d.kind)
		r.source.noteAt(from, "a computed apiVersion of "+d.kind, "it is "+text+" now, since it must be literal")
		at := span{from, end.to}
		r.replaceSpan(at, "apiVersion: "+text)
		if b[0].trimLeft && !strings.HasSuffix(r.text[:from], "\n") && from > 0 {
			r.replaceSpan(at, "\napiVersion: "+text)
		}
		d.apiVersion = text
	}
}

func keysOf(m map[int]block) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// A declared kind is one that kind.yaml must name, as a child or a read.
type declared struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespaces []string `json:"namespaces,omitempty"`
}

// addSettings writes kind.yaml, if there is anything to say.
func (v *conversion) addSettings(dir string) {
	settings := map[string]any{"apiVersion": "jacquard.dev/v1alpha1", "kind": "KindSettings"}
	if all := mergeKinds(v.declared); len(all) > 0 {
		settings["children"] = all
	}
	if all := mergeKinds(v.reads); len(all) > 0 {
		settings["reads"] = all
	}
	if len(settings) == 2 {
		return
	}
	data, err := yaml.Marshal(settings)
	if err != nil { // texts and lists of texts
		panic(err)
	}
	v.add(dir+"/kind.yaml", data)
}

// mergeKinds returns each kind once, with all its namespaces.
func mergeKinds(all []declared) []declared {
	var out []declared
	for _, d := range all {
		i := slices.IndexFunc(out, func(o declared) bool { return o.APIVersion == d.APIVersion && o.Kind == d.Kind })
		if i < 0 {
			out = append(out, d)
			continue
		}
		out[i].Namespaces = append(out[i].Namespaces, d.Namespaces...)
	}
	for i := range out {
		slices.Sort(out[i].Namespaces)
		out[i].Namespaces = slices.Compact(out[i].Namespaces)
	}
	return out
}
