package schema

import (
	"testing"
)

// said prints what is known of a type.
func said(t *Type) string {
	text := t.Kind().String()
	switch t.Kind() {
	case KindList, KindFreeMap:
		return text + " of " + said(t.Elem())
	case KindObject:
		text = "{"
		for _, name := range t.Fields() {
			field, _ := t.Field(name)
			if text += " " + name; !t.Always(name) {
				text += "?"
			}
			text += ":" + said(field)
		}
		if t.FreeForm() {
			text += " …"
		}
		return text + " }"
	}
	return text
}

func TestUnion(t *testing.T) {
	text, number := Scalar(KindString), Scalar(KindInteger)
	one := ObjectOf(map[string]*Type{"a": text, "b": number}, "a", "b")
	for _, tt := range []struct {
		a, b *Type
		want string
	}{
		{text, text, "string"},
		{text, Scalar(KindString), "string"},
		{text, number, "integer or string"},
		{number, Scalar(KindNumber), "number"},
		{Scalar(KindIntOrString), number, "integer or string"},
		{text, Scalar(KindBoolean), "any value"},
		{text, nil, "any value"},
		{Any, one, "any value"},
		{ListOf(text), ListOf(number), "list of integer or string"},
		{ListOf(text), text, "any value"},
		{MapOf(text), MapOf(text), "map of string"},
		{one, ObjectOf(map[string]*Type{"a": number, "c": text}, "a", "c"), "{ a:integer or string b?:integer c?:string }"},
		{one, one.AllowUnknown(), "{ a:string b:integer … }"},
	} {
		if got := said(Union(tt.a, tt.b)); got != tt.want {
			t.Errorf("%s and %s: %s, want %s", said(tt.a), said(tt.b), got, tt.want)
		}
		if got := said(Union(tt.b, tt.a)); got != tt.want {
			t.Errorf("%s and %s: %s, want %s", said(tt.b), said(tt.a), got, tt.want)
		}
	}
}

func TestOf(t *testing.T) {
	got := said(Of(map[string]any{"a": "x", "b": []any{int64(1), 1.5}, "c": map[string]any{"d": true}, "e": nil, "f": []any{}}))
	if want := "{ a:string b:list of number c:{ d:boolean } e:any value f:list of any value }"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBounds(t *testing.T) {
	one, ten := 1.0, 10.0
	t1 := &Type{kind: KindInteger, bounds: bounds{least: &one, most: &ten, leastOut: true}}
	if least, bounded := t1.Minimum(); least != 2 || !bounded {
		t.Errorf("Minimum: %v", least)
	}
	if most, bounded := t1.Maximum(); most != 10 || !bounded || t1.MaxLength() != 2 {
		t.Errorf("Maximum: %v, MaxLength: %d", most, t1.MaxLength())
	}
	if _, bounded := Any.Minimum(); bounded || Any.MaxLength() != -1 || Scalar(KindInteger).MaxLength() != 20 {
		t.Error("there are bounds where there are none")
	}
	if wide := Union(Either("a", "bcd"), Either("a", "ef")); wide.MaxLength() != 3 || len(wide.Enum()) != 3 {
		t.Errorf("union of enums: %v", wide.Enum())
	}
	name, _ := at(Root(storage(t, webapps)), "metadata name")
	if name.MaxLength() != 253 {
		t.Errorf("a name has at most %d characters", name.MaxLength())
	}
}
