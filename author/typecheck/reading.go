package typecheck

import (
	"strings"
	"text/template/parse"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/signature"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// secretKind is how Source.Read calls a Secret.
const secretKind = "Secret v1"

// Confidential reports whether a source is the content of a Secret.
func (s Source) Confidential() bool {
	if s.Read != secretKind {
		return s.Read == "stable"
	}
	for _, part := range []string{"data", "stringData"} {
		if s.Path == "" || s.Path == part || strings.HasPrefix(s.Path, part+".") || strings.HasPrefix(s.Path, part+"[") {
			return true
		}
	}
	return false
}

// evalLookup returns the value of a call of lookup or select.
func evalLookup(w *path, fn *parse.IdentifierNode, args []arg) *val {
	apiVersion, _ := args[0].constant.(string)
	kind, _ := args[1].constant.(string)
	one := w.liveObject([]apischema.GroupVersionKind{apischema.FromAPIVersionAndKind(apiVersion, kind)}, kind)
	if fn.Ident == "select" {
		return w.read(fn, listOf(one), args)
	}
	return w.read(fn, one.allowAbsent(), args)
}

// evalChild returns the value of a call of child, children or await.
func evalChild(w *path, fn *parse.IdentifierNode, args []arg) *val {
	name, _ := args[0].constant.(string)
	var kinds []apischema.GroupVersionKind
	if w.in.Makes != nil {
		kinds = w.in.Makes(name)
	}
	one := w.liveObject(kinds, name+".yaml")
	one.file = name
	one.nameRead(one.read, "")
	switch fn.Ident {
	case "children":
		return w.read(fn, listOf(one), args)
	case "child":
		return w.read(fn, one.allowAbsent(), args)
	}
	w.recordArrival(fn, name)
	for _, k := range kinds {
		if k.Kind == "Job" {
			return w.read(fn, one.allowAbsent(), args) // one that succeeded may be gone
		}
	}
	return w.read(fn, one, args)
}

// read names what is read: the same question has the same answer.
func (w *path) read(fn *parse.IdentifierNode, v *val, args []arg) *val {
	out := *v
	ids := make([]string, len(args))
	for i, a := range args {
		if ids[i] = a.id; a.known {
			ids[i] = formatConstant(a.constant)
		}
		if ids[i] == "" {
			w.counter++
			out.id = "read" + formatConstant(int64(w.counter))
			return &out
		}
	}
	out.id = fn.Ident + "(" + strings.Join(ids, ",") + ")"
	return &out
}

func listOf(v *val) *val {
	out := ofKinds(signature.List)
	out.elem, out.sources = v, v.sources
	return out
}

// liveObject returns a live object of one of the kinds.
func (w *path) liveObject(kinds []apischema.GroupVersionKind, otherwise string) *val {
	if len(kinds) == 0 {
		return typedValue(anyObject()).nameRead(otherwise, "")
	}
	var t *schema.Type
	for i, k := range kinds {
		var one *schema.Type
		if w.in.Live != nil {
			one = w.in.Live(k)
		}
		if one == nil {
			one = anyObject()
		}
		if t = one; i > 0 {
			t = schema.Union(t, one)
		}
	}
	read := otherwise
	if len(kinds) == 1 {
		read = kinds[0].Kind + " " + kinds[0].GroupVersion().String()
	}
	out := typedValue(t).nameRead(read, "")
	out.can = signature.Map
	out.cluster = len(kinds) == 1 && schema.ClusterScoped(kinds[0].GroupKind())
	return out
}

// anyObject is the type of an object of which no schema is known.
func anyObject() *schema.Type {
	text := schema.Scalar(schema.KindString)
	metadata := schema.ObjectOf(map[string]*schema.Type{"name": text, "namespace": text, "uid": text}, "name", "namespace", "uid")
	fields := map[string]*schema.Type{"apiVersion": text, "kind": text, "metadata": metadata.AllowUnknown()}
	return schema.ObjectOf(fields, "apiVersion", "kind", "metadata").AllowUnknown()
}

// evalConfig returns the value of a call of config.
func evalConfig(w *path, fn *parse.IdentifierNode, args []arg) *val {
	key, _ := args[0].constant.(string)
	v := settingValue(w.in.Config[key])
	v.id = "config(" + formatConstant(key) + ")"
	return v.nameRead("config", key)
}

// evalText returns the text that file, rendered or stable reads.
func evalText(w *path, fn *parse.IdentifierNode, args []arg) *val {
	name, _ := args[0].constant.(string)
	v := ofKinds(signature.String)
	v.id, v.sources = fn.Ident+"("+formatConstant(name)+")", []Source{{Read: fn.Ident, Path: name}}
	if fn.Ident != "stable" {
		return v
	}
	key, _ := args[1].constant.(string)
	length, _ := args[2].constant.(int64)
	v.id += formatConstant(key)
	v.sources, v.longest, v.shortest = []Source{{Read: secretKind, Path: "data." + key}}, int(length), 1
	return v
}
