package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// A File is the objects of one file.
type File struct {
	// Name is how errors call it.
	Name    string
	Objects []*Object
}

// An Object is one object of a file and where it stands there.
type Object struct {
	Object map[string]any
	file   string
	// before is the number of lines before the document that node is of.
	before int
	node   *yamlv3.Node
}

// maxFile is the largest file that is read, in bytes.
const maxFile = 64 << 20

// Open reads the objects of a file; "-" is stdin.
func Open(name string, stdin io.Reader) (*File, error) {
	var data []byte
	var err error
	if name == "-" {
		name = "stdin"
		data, err = io.ReadAll(io.LimitReader(stdin, maxFile+1))
	} else {
		var open *os.File
		if open, err = os.Open(name); err != nil {
			return nil, fmt.Errorf("reading resources: %w", err)
		}
		defer open.Close()
		data, err = io.ReadAll(io.LimitReader(open, maxFile+1))
	}
	if err != nil {
		return nil, fmt.Errorf("reading resources: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("reading resources: %s is larger than %d bytes", name, maxFile)
	}
	return Read(name, data)
}

// Read reads the objects of a YAML or JSON file of any number of documents, as
// kubectl does; a v1 List counts as its items. Keys that occur twice are
// errors. The error joins what is wrong with each document, with its place.
func Read(name string, data []byte) (*File, error) {
	f := &File{Name: name}
	var errs []error
	for _, part := range splitDocuments(folder.Clean(data)) {
		objects, err := part.read(name)
		errs = append(errs, err)
		f.Objects = append(f.Objects, objects...)
	}
	return f, errors.Join(errs...)
}

// A part is one document's text; before is the number of lines before it.
type part struct {
	text   []byte
	before int
}

// terminator is a line that ends a document.
var terminator = regexp.MustCompile(`^(---|\.\.\.)[ \t]*(#.*)?\n?$`)

// splitDocuments parts a file of JSON at its objects, and others at their lines of ---.
func splitDocuments(data []byte) []part {
	if parts, ok := jsonDocuments(data); ok {
		return parts
	}
	parts := []part{{}}
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		last := &parts[len(parts)-1]
		if terminator.Match(line) {
			parts = append(parts, part{before: i + 1})
			continue
		}
		last.text = append(last.text, line...)
	}
	return parts
}

func (p part) read(name string) ([]*Object, error) {
	parsed, err := p.parse(name)
	if parsed == nil {
		return nil, err
	}
	return (&Object{file: name, before: p.before, node: parsed.node}).setValue(parsed.value)
}

// A parsed document is its value and the tree that knows where things stand.
type parsed struct {
	value any
	node  *yamlv3.Node
}

// parse reads one document; nil without error if it is empty.
func (p part) parse(name string) (*parsed, error) {
	var doc yamlv3.Node
	text := yamlOf(p.text)
	if err := yamlv3.Unmarshal(text, &doc); err != nil {
		return nil, p.placeErrors(name, err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	o := &Object{file: name, before: p.before, node: doc.Content[0]}
	if err := errors.Join(o.findRepeated(o.node)...); err != nil {
		return nil, err
	}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, p.placeErrors(name, err)
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Place(""), err)
	}
	return &parsed{value, o.node}, nil
}

// setValue gives an object its value. A List becomes its items.
func (o *Object) setValue(value any) ([]*Object, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: this is no object: it must be a map of fields", o.Place(""))
	}
	o.Object = fields
	for _, key := range []string{"apiVersion", "kind"} {
		if text, ok := fields[key].(string); !ok || text == "" {
			return nil, fmt.Errorf("%s: %s must be a text", o.Place(key), key)
		}
	}
	items, listed := fields["items"].([]any)
	if fields["apiVersion"] != "v1" || fields["kind"] != "List" || !listed {
		return []*Object{o}, nil
	}
	var all []*Object
	var errs []error
	for i, item := range items {
		node := o.locateNode("items[" + strconv.Itoa(i) + "]")
		objects, err := (&Object{file: o.file, before: o.before, node: node}).setValue(item)
		errs = append(errs, err)
		all = append(all, objects...)
	}
	return all, errors.Join(errs...)
}

var yamlLine = regexp.MustCompile(`line (\d+)(?:, column (\d+))?: (.*)`)

// placeErrors takes the lines out of the text of the YAML parser's error, and begins each error
// with its place in the file.
func (p part) placeErrors(name string, err error) error {
	var errs []error
	for _, m := range yamlLine.FindAllStringSubmatch(err.Error(), -1) {
		line, _ := strconv.Atoi(m[1]) // digits, by the expression
		errs = append(errs, fmt.Errorf("%s:%d: %s", name, line+p.before, m[3]))
	}
	if errs == nil {
		return fmt.Errorf("%s:%d: %w", name, p.before+1, err)
	}
	return errors.Join(errs...)
}

// findRepeated returns an error for each key that occurs twice in one map.
func (o *Object) findRepeated(node *yamlv3.Node) []error {
	var errs []error
	first := map[string]int{}
	for i, n := range node.Content {
		errs = append(errs, o.findRepeated(n)...)
		if node.Kind != yamlv3.MappingNode || i%2 != 0 {
			continue
		}
		if line, twice := first[n.Value]; twice {
			errs = append(errs, fmt.Errorf("%s: the key %q occurs twice: it is in line %d already", o.formatPlace(n), n.Value, line))
			continue
		}
		first[n.Value] = n.Line + o.before
	}
	return errs
}
