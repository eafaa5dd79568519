package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Source is a file of manifests: Name is how errors call it.
type Source struct {
	Name string
	Data []byte
}

// A manifest is one object of a source.
type manifest struct {
	gvk  schema.GroupVersionKind
	name string
	// plain is what its author called it, if it is called otherwise by now.
	plain string
	// place is file:line; source is the file.
	place, source string
	node          *node
	// patch: it is fields of somebody else's object; subresource is the one
	// that they belong to, or "".
	patch       bool
	subresource string
	// file is what becomes of it: a file of the folder, without .yaml.
	file string
	// about is the workload that it is, or belongs to, if there is one; group
	// is the group of the spec that holds what is lifted out of it.
	about *manifest
	group []string
	// said is what it says in the end: what must be rendered again.
	said map[string]any
}

// namespaceText returns the namespace of the manifest, or "".
func (m *manifest) namespaceText() string { return textAt(m.node, "metadata", "namespace") }

func (m *manifest) String() string { return fmt.Sprintf("%s: %s %s", m.place, m.gvk.Kind, m.name) }

// readAll reads all manifests of some sources.
func readAll(sources []Source) ([]*manifest, error) {
	var all []*manifest
	var errs []error
	for _, s := range sources {
		found, err := readSource(s)
		all, errs = append(all, found...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return all, nil
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// readSource reads the manifests of one source.
func readSource(s Source) ([]*manifest, error) {
	decoder := yamlv3.NewDecoder(bytes.NewReader(bytes.TrimPrefix(s.Data, []byte("\uFEFF"))))
	var all []*manifest
	var errs []error
	for {
		document := &node{}
		err := decoder.Decode(document)
		if errors.Is(err, io.EOF) {
			return all, errors.Join(errs...)
		}
		if err != nil {
			place := s.Name
			if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
				place += ":" + m[1]
			}
			return nil, errors.Join(append(errs, fmt.Errorf("%s: %s", place, yamlLine.ReplaceAllString(err.Error(), "")))...)
		}
		found, err := readObjects(s, document)
		all, errs = append(all, found...), append(errs, err)
	}
}

// readObjects returns the manifests of a document: one, those of a List, or none.
func readObjects(s Source, document *node) ([]*manifest, error) {
	root := document.Content[0]
	if root.Kind == yamlv3.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	place := fmt.Sprintf("%s:%d", s.Name, root.Line)
	if err := root.Decode(new(any)); err != nil { // an anchor that holds itself has no end
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	expandAliases(root)
	if _, err := decodeNode(root); err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	if root.Kind != yamlv3.MappingNode || textAt(root, "apiVersion") == "" || textAt(root, "kind") == "" {
		return nil, fmt.Errorf("%s: it is no manifest: it has no apiVersion and kind", place)
	}
	if strings.HasSuffix(textAt(root, "kind"), "List") && findNode(root, "items") != nil {
		var all []*manifest
		var errs []error
		for _, item := range listItems(root, "items") {
			found, err := readObjects(s, &node{Kind: yamlv3.DocumentNode, Content: []*node{item}})
			all, errs = append(all, found...), append(errs, err)
		}
		return all, errors.Join(errs...)
	}
	m := &manifest{node: root, name: textAt(root, "metadata", "name"), place: place, source: s.Name}
	m.gvk = schema.FromAPIVersionAndKind(textAt(root, "apiVersion"), textAt(root, "kind"))
	if m.name == "" {
		return nil, fmt.Errorf("%s: this %s has no metadata.name: give it one, as a template must know what it makes", place, m.gvk.Kind)
	}
	if err := m.checkManifest(); err != nil {
		return nil, err
	}
	m.readPatch(document.HeadComment + "\n" + root.HeadComment + "\n" + root.Content[0].HeadComment)
	if m.node.Style&yamlv3.FlowStyle != 0 {
		fresh, err := nodeOf(valueOf(root))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
		m.node = inOrder(fresh)
	}
	if bySort(m.node) {
		inOrder(m.node)
	}
	resetStyle(m.node)
	return []*manifest{m}, nil
}

var patchComment = regexp.MustCompile(`(?m) \(patch(?: of (\S+))?\)$`)

// readPatch finds out whether a manifest is a patch: it says so itself, or the
// comment does that jacquard render writes above it.
func (m *manifest) readPatch(comment string) {
	if said := patchComment.FindStringSubmatch(comment); said != nil {
		m.patch, m.subresource = true, said[1]
	}
	if textAt(m.node, "metadata", "annotations", api.AnnotationOwnership) == "patch" {
		m.patch, m.subresource = true, textAt(m.node, "metadata", "annotations", api.AnnotationSubresource)
	}
}

// expandAliases replaces aliases by what they stand for, since templates have none.
func expandAliases(n *node) {
	n.Anchor = ""
	for i, part := range n.Content {
		if part.Kind == yamlv3.AliasNode {
			copied := *part.Alias
			copied.Content = slices.Clone(copied.Content)
			n.Content[i] = &copied
		}
		expandAliases(n.Content[i])
	}
	if i := keyIndex(n, "<<"); i >= 0 && n.Content[i].Tag == "!!merge" {
		mergeEntries(n, i)
	}
}

// mergeEntries puts the entries of a merge key in its place.
func mergeEntries(n *node, i int) {
	from := []*node{n.Content[i+1]}
	if from[0].Kind == yamlv3.SequenceNode {
		from = from[0].Content
	}
	n.Content = slices.Delete(n.Content, i, i+2)
	for _, m := range from {
		for j := 0; j+1 < len(m.Content); j += 2 {
			if keyIndex(n, m.Content[j].Value) < 0 {
				n.Content = append(n.Content, m.Content[j], m.Content[j+1])
			}
		}
	}
}

// made are comments that jacquard render writes, and those of no author.
var made = regexp.MustCompile(`(?m)^# (\S+ (\S+/)?\S+: \S+:\d+( \(patch.*\))?|Source: .*)$\n?`)

// resetStyle gives a document's literals and comments the style of a template. There they mean what
// kubectl makes of them here, and a comment is no action.
func resetStyle(root *node) {
	all := func(n *node) {
		for _, comment := range []*string{&n.HeadComment, &n.LineComment, &n.FootComment} {
			*comment = strings.ReplaceAll(strings.TrimSpace(made.ReplaceAllString(*comment, "")), "{{", "{ {")
		}
	}
	pairKeys(root, all)
	walkNodes(root, nil, func(_ []string, n *node) {
		all(n)
		if n.Kind != yamlv3.ScalarNode || n.Style != 0 {
			return
		}
		if truth, is := valueOf(&node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}).(bool); is {
			n.Tag, n.Value = "!!bool", strconv.FormatBool(truth)
		}
	})
}

// pairKeys calls f for each key of a document.
func pairKeys(root *node, f func(key *node)) {
	walkNodes(root, nil, func(_ []string, n *node) {
		if n.Kind == yamlv3.MappingNode {
			for i := 0; i < len(n.Content); i += 2 {
				f(n.Content[i])
			}
		}
	})
}
