package schema

import "testing"

func TestSuggest(t *testing.T) {
	names := []string{"image", "port", "ports", "replicas", "maxReplicas", "resources"}
	tests := []struct{ name, want string }{
		{"replica", "replicas"},
		{"repilcas", "replicas"},
		{"Image", "image"},
		{"imgae", "image"},
		{"prot", "port"},
		{"portz", "port"}, // port and ports are equally near
		{"maxreplicas", "maxReplicas"},
		{"ressources", "resources"},
		{"volume", ""},
		{"x", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := Suggest(tt.name, names); got != tt.want {
			t.Errorf("Suggest(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := Suggest("a", nil); got != "" {
		t.Errorf("Suggest among none = %q", got)
	}
}
