package kind

import (
	"encoding/json"
	"fmt"
	"slices"
)

// DeletionSettings are what deleting resources needs of a folder. They are recorded, since the
// folder may be gone by then.
type DeletionSettings struct {
	DeletionOrder      []string `json:"deleteOrder,omitempty"`
	ServiceAccountName string   `json:"serviceAccountName,omitempty"`
	// Elsewhere are the namespaces that children may be in besides those of their resources;
	// Anywhere stands for namespaces that nobody can name beforehand.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// Anywhere stands for any namespace in DeletionSettings.Elsewhere.
const Anywhere = "*"

// DeletionSettings returns what deleting resources needs of the folder.
func (k *Kind) DeletionSettings() DeletionSettings {
	d := DeletionSettings{DeletionOrder: k.Settings.DeletionOrder, ServiceAccountName: k.Settings.ServiceAccountName}
	for _, rule := range k.Settings.Children {
		d.Elsewhere = append(d.Elsewhere, rule.Namespaces.Listed...)
		if rule.Namespaces.Rendered {
			d.Elsewhere = append(d.Elsewhere, Anywhere)
		}
	}
	slices.Sort(d.Elsewhere)
	d.Elsewhere = slices.Compact(d.Elsewhere)
	return d
}

// ParseDeletionSettings parses what String returns. Anything else yields the zero value.
func ParseDeletionSettings(text string) DeletionSettings {
	var d DeletionSettings
	if json.Unmarshal([]byte(text), &d) != nil {
		return DeletionSettings{}
	}
	return d
}

// String returns the settings as JSON, or "" if deleting needs nothing.
func (d DeletionSettings) String() string {
	if d.Equal(DeletionSettings{}) {
		return ""
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("encoding texts: %v", err))
	}
	return string(text)
}

// Equal reports whether two settings are the same.
func (d DeletionSettings) Equal(o DeletionSettings) bool {
	return d.ServiceAccountName == o.ServiceAccountName && slices.Equal(d.DeletionOrder, o.DeletionOrder) &&
		slices.Equal(d.Elsewhere, o.Elsewhere)
}
