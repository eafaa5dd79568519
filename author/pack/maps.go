package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

const (
	// maxPart is how large one ConfigMap gets, in bytes of JSON: kubectl apply
	// keeps the whole object in an annotation, and 256 KiB is all that fits into
	// the annotations of an object. One file that is larger is a part of its own.
	maxPart = 200 << 10
	// maxKey, maxLabel and maxName are the API's limits.
	maxKey, maxLabel, maxName = 253, 63, 253
)

// isKey is what the API takes as a key of a ConfigMap.
var isKey = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)

// split parts files, in their order, among ConfigMaps.
func split(files []data) [][]data {
	var parts [][]data
	left := 0
	for _, d := range files {
		size := len(d.key) + len(d.text)
		if written, err := json.Marshal(string(d.text)); err == nil {
			size = len(d.key) + len(written)
		}
		if len(parts) == 0 || size > left {
			parts, left = append(parts, nil), maxPart
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], d)
		left -= size
	}
	return parts
}

// writeMaps writes a ConfigMap for each part. The first has the same name
// however many there are: to the operator it is where the kind comes from.
func (in Input) writeMaps(to *strings.Builder, install Install, parts [][]data) error {
	// Settings are no part of the digest that the parts have in common: they stand on the
	// first part, so that they change at once.
	digest := in.sum()[:16]
	for i, part := range parts {
		note := ""
		if len(parts) > 1 {
			note = fmt.Sprintf("%d/%d %s", i+1, len(parts), digest)
		}
		meta, err := in.meta(install, i, note)
		if err != nil {
			return err
		}
		object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
		fill(object, part)
		// The keys are sorted, so that no file comes last: who parts the documents
		// at "\n---\n" would cut off its last line break.
		text, err := funcs.YAML(object)
		if err != nil {
			return fmt.Errorf("packing %s: %w", in.Kind.Name, err)
		}
		fmt.Fprintf(to, "---\n# The folder of the kind %s.\n%s", in.Kind.Name, text)
	}
	return nil
}

// meta is the metadata of the ConfigMap with a part; note says which it is of
// several. The first part has the settings.
func (in Input) meta(install Install, index int, note string) (map[string]any, error) {
	meta := map[string]any{
		"name": mapName(in.Kind.Name, index), "namespace": install.Namespace,
		"labels": map[string]any{api.LabelKind: short(in.Kind.Name, maxLabel), api.LabelPartOf: api.PartOf},
	}
	annotations := map[string]any{}
	if len(in.Kind.Name) > maxLabel {
		annotations[api.AnnotationKind] = in.Kind.Name
	}
	if note != "" {
		annotations[api.AnnotationPart] = note
	}
	if index == 0 && len(in.Kind.Overrides) > 0 {
		text, err := json.Marshal(in.Kind.Overrides)
		if err != nil {
			return nil, fmt.Errorf("packing %s: encoding its settings: %w", in.Kind.Name, err)
		}
		annotations[api.AnnotationConfig] = string(text)
	}
	if len(annotations) > 0 {
		meta["annotations"] = annotations
	}
	return meta, nil
}

// fill puts files into a ConfigMap.
func fill(object map[string]any, part []data) {
	texts, binary := map[string]any{}, map[string]any{}
	for _, d := range part {
		if isText(d.text) {
			texts[d.key] = string(d.text)
		} else {
			binary[d.key] = base64.StdEncoding.EncodeToString(d.text)
		}
	}
	if len(texts) > 0 {
		object["data"] = texts
	}
	if len(binary) > 0 {
		object["binaryData"] = binary
	}
}

// isText reports whether every YAML parser reads a text back as it is: it has only
// what YAML 1.2 calls printable (c-printable), and of line breaks only \n.
func isText(text []byte) bool {
	return utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || slices.Contains([]rune{0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff}, r)
	})
}

// mapName is the name of the ConfigMap with a part of a kind's folder.
func mapName(kind string, index int) string {
	name := "jacquard-" + kind
	if index > 0 {
		name = fmt.Sprintf("%s-%d", short(name, maxName-4), index+1)
	}
	return short(name, maxName)
}

// short is a name of at most so many bytes: what is cut off is told by a hash.
func short(name string, most int) string {
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:most-9], "-.") + "-" + hex.EncodeToString(sum[:4])
}
