package kinds

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A leaf is a field with the path that leads to it, such as .spec.a.b, and
// whether every resource has it.
type leaf struct {
	*field
	path    string
	certain bool
}

// leaves lists all fields below a path, objects first.
func leaves(fields []*field, path string, certain bool) []leaf {
	var all []leaf
	for _, f := range fields {
		l := leaf{f, path + "." + f.name, certain && f.certain()}
		all = append(all, l)
		if f.kind == "object" {
			all = append(all, leaves(f.fields, l.path, l.certain)...)
		}
	}
	return all
}

// An author writes random templates over fields.
type author struct {
	r      *rand.Rand
	leaves []leaf
	// root is what paths begin with: "" where dot is the resource, else "$".
	root string
	// spread are the maps whose keys stand in the present map already.
	spread map[string]bool
	keys   int
}

// key is a key that the present map does not have.
func (a *author) key() string {
	a.keys++
	return fmt.Sprintf("k%d", a.keys)
}

// entries are n entries of a map of texts, as lines with this indentation.
func (a *author) entries(n, indent int) string {
	a.spread = map[string]bool{}
	var b strings.Builder
	for range n {
		for _, line := range strings.Split(a.entry(pick(a.r, a.leaves), indent), "\n") {
			if line != "" {
				b.WriteString(strings.Repeat(" ", indent) + line + "\n")
			}
		}
	}
	return b.String()
}

// entry is one entry, or several, that says something of a field.
func (a *author) entry(l leaf, indent int) string {
	p := a.root + l.path
	forms := map[string][]string{
		"text": {
			"K: {{ P }}", `K: "{{ P | default "none" }}!"`, "K: {{ P | default \"none\" | quote }}",
			`K: {{ printf "%s/%s" NAME (P | default "-") }}`,
			"K: |\n  {{ P | default \"-\" }}\n  end", `K: {{ P | default "x" | upper | trunc 5 }}`, "{{- with P }}\nK: {{ . }}\n{{- end }}",
			"{{- if eq (P | default \"\") \"hello\" }}\nK: greeting\n{{- else }}\nK: {{ P | default \"other\" }}\n{{- end }}",
			"K: >-\n  folded {{ P | default \"-\" | b64enc }}\n  text", "K: {{ P | default \"\" | sha256sum }}",
		},
		"int": {
			`K: "{{ P | default 4 }}"`, "K: {{ P | default 4 | toString }}", `K: {{ printf "%03d" (int (P | default 4)) }}`,
			"{{- if gt (int (P | default 0)) 1 }}\nK: many\n{{- end }}", "K: {{ add (P | default 1) 3 | toString }}",
			"{{- range $i := until (int (P | default 2)) }}\nK-{{ $i }}: number {{ $i }}\n{{- end }}",
		},
		"float": {"K: {{ P | default 0.5 | toString }}", "K: '{{ P | default 0.5 }}'"},
		"bool": {
			`K: "{{ P | default false }}"`, `K: {{ ternary "on" "off" (P | default false) }}`,
			"{{- if P }}\nK: it is\n{{- else if not P }}\nK: it is not\n{{- end }}",
		},
		"list": {
			`K: {{ P | default list | join ";" }}`, "K: {{ P | toJson | quote }}", "{{- range $i, $v := P }}\nK-{{ $i }}: {{ $v }}\n{{- end }}",
			`K: "{{ len (P | default list) }}"`, "{{- with P }}\nK: |\n  {{- toYaml . | nindent IN }}\n{{- end }}",
			"K: {{ P | default list | first | default \"empty\" }}",
		},
		"numbers": {`K: {{ P | toJson | quote }}`, "{{- range $i, $v := P }}\nK-{{ $i }}: \"{{ $v }}\"\n{{- else }}\nK: none\n{{- end }}"},
		"map": {
			"{{- range $k, $v := P }}\nK.{{ $k }}: {{ $v }}\n{{- end }}", `K: "{{ len (P | default dict) }}"`, "K: {{ P | toJson | quote }}",
			"K: {{ keys (P | default dict) | sortAlpha | join \",\" }}", "{{- range P }}\n{{- /* no entry */}}\n{{- end }}", "SPREAD",
		},
		"object": {`K: "{{ P | toJson }}"`, "{{- if P }}\nK: there\n{{- end }}", "K: {{ kindOf P }}"},
		"items": {
			"{{- range P }}\nK.{{ .name }}: {{ .value }}\n{{- end }}",
			"{{- range $i, $x := P }}\nK-{{ $i }}: \"{{ $x.name }}={{ $x.size }}\"\n{{- end }}",
			"{{- range P }}\n{{- if gt (int .size) 1 }}\nK.{{ .name }}: {{ .value | default .name | quote }}\n{{- end }}\n{{- end }}",
		},
		"free": {"K: {{ P | toJson | quote }}", `K: {{ P.deep.s | default "nothing" }}`,
			`K: {{ dig "deep" "n" 7 (P | default dict) | toString }}`},
	}
	forms["word"] = forms["text"]
	form := pick(a.r, forms[l.kind])
	if form == "SPREAD" {
		if form = `K: {{ P | toJson | quote }}`; !a.spread[l.path] {
			form = "{{- with P }}\n{{- toYaml . | nindent IS }}\n{{- end }}"
		}
		a.spread[l.path] = true
	}
	if l.certain && l.kind == "text" && a.r.IntN(2) == 0 {
		form = pick(a.r, []string{`K: "<{{ P }}>"`, "K: {{ P }}-tail", `K: {{ P | quote }}`, "K: |-\n  {{ P }}",
			`K: {{ list P NAME | join "+" }}`})
	}
	in := map[string]string{"IN": fmt.Sprint(indent + 2), "IS": fmt.Sprint(indent)}
	return strings.NewReplacer("K", a.key(), "NAME", a.root+".metadata.name", "P", p, "IN", in["IN"], "IS", in["IS"]).Replace(form)
}

// text is a whole value that is a text, and never nothing.
func (a *author) text() string {
	l := pick(a.r, a.leaves)
	p := a.root + l.path
	switch l.kind {
	case "text", "word":
		return `{{ ` + p + ` | default "none" }}`
	case "int", "float", "bool":
		return `"{{ ` + p + ` | default "none" }}"`
	}
	return `{{ ` + p + ` | toJson | quote }}`
}

// number is a whole number of 0 to 3, maybe nothing where that may be.
func (a *author) number(mayBeNothing bool) string {
	for _, l := range shuffled(a.r, a.leaves) {
		switch {
		case l.kind != "int":
		case l.certain || mayBeNothing:
			return "{{ " + a.root + l.path + " }}"
		default:
			return "{{ " + a.root + l.path + " | ifNil 1 }}"
		}
	}
	return fmt.Sprint(a.r.IntN(3))
}

// condition is a random condition.
func (a *author) condition() string {
	l := pick(a.r, a.leaves)
	p := a.root + l.path
	switch l.kind {
	case "text", "word":
		return fmt.Sprintf("ne (%s | default %q) %q", p, "x", pick(a.r, append(texts[:5:5], words...)))
	case "int":
		return fmt.Sprintf("lt (int (%s | default 0)) %d", p, 1+a.r.IntN(3))
	case "bool":
		return pick(a.r, []string{p, "not " + p})
	}
	return pick(a.r, []string{"not " + p, "or " + p + ` (hasAPI "v1" "ConfigMap")`,
		"and " + p + ` (not (hasAPI "nothing.example.com/v1" "Nothing"))`})
}
