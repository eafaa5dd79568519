package refusals

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// A Row is one way in which a child is refused.
type Row struct {
	Name string `json:"-"`
	// Child is a template that prints .spec.name or .spec.replicas.
	Child string `json:"child"`
	// From is what it printed when the child was made, and To what it prints now.
	// Before is the child as it was made, where more is different. Without From and
	// Before it is new.
	From   *string `json:"from,omitempty"`
	To     string  `json:"to,omitempty"`
	Before string  `json:"before,omitempty"`
	// Cluster: the child has no namespace.
	Cluster bool `json:"cluster,omitempty"`
	// Others is what another manager changed in the child before.
	Others *Edit `json:"others,omitempty"`
	// Around are objects that are there before the child is written; NAMESPACE
	// stands for the child's namespace.
	Around string `json:"around,omitempty"`
	// Webhook is what an admission webhook says; "down": it does not answer.
	Webhook string `json:"webhook,omitempty"`
	// Rights are those of the writer; nil: all.
	Rights *[]rbacv1.PolicyRule `json:"rights,omitempty"`
	// Namespace is "missing" or "ends", if the child's namespace is.
	Namespace string `json:"namespace,omitempty"`

	// Kind is the kind of refusal, Reason that of the condition Ready, and Message
	// what it says.
	Kind    string `json:"kind"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// An Edit is a JSON patch by a field manager.
type Edit struct {
	Manager string `json:"manager"`
	Patch   string `json:"patch"`
}

// Sent is the child as it is written now.
func (r Row) Sent() string { return r.printChild(r.To) }

// Made is the child as it was made before; "" if it is new.
func (r Row) Made() string {
	if r.From != nil {
		return r.printChild(*r.From)
	}
	return r.Before
}

// printChild prints the child with a value.
func (r Row) printChild(value string) string {
	return strings.NewReplacer("{{ .spec.name }}", value, "{{ .spec.replicas }}", value).Replace(r.Child)
}

// Recorded is what a real API server answered.
type Recorded struct {
	// Version is that of the API server.
	Version string `json:"version"`
	// Resource is how the child's kind is served.
	Resource string `json:"resource"`
	// Answer is the refusal of the child.
	Answer *metav1.Status `json:"answer"`
	// Fresh is the refusal of a dry run that would create the same child under
	// another name; nil: it would be created.
	Fresh *metav1.Status `json:"fresh,omitempty"`
	// Live is the child as it is; nil: it is new.
	Live *unstructured.Unstructured `json:"live,omitempty"`
}

//go:embed rows.yaml recorded
var files embed.FS

// Rows returns the table, sorted by name.
func Rows() ([]Row, error) {
	text, err := files.ReadFile("rows.yaml")
	if err != nil {
		return nil, err
	}
	var named map[string]Row
	if err := yaml.UnmarshalStrict(text, &named); err != nil {
		return nil, err
	}
	var all []Row
	for _, name := range slices.Sorted(maps.Keys(named)) {
		r := named[name]
		r.Name = name
		all = append(all, r)
	}
	return all, nil
}

// recordPath returns the path of the file with what was recorded of the row.
func (r Row) recordPath() string {
	return filepath.Join("recorded", strings.ReplaceAll(r.Name, " ", "-")+".json")
}

// Recorded returns what was recorded of a row.
func (r Row) Recorded() (*Recorded, error) {
	text, err := files.ReadFile(r.recordPath())
	if err != nil {
		return nil, err
	}
	out := &Recorded{}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("reading %s: %w", r.recordPath(), err)
	}
	return out, nil
}

// Write writes what was recorded of a row below the repository's root.
func (r Row) Write(root string, what *Recorded) error {
	text, err := json.MarshalIndent(what, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "test", "refusals", r.recordPath()), append(text, '\n'), 0o644) //nolint:gosec // it is part of the repository
}
