package funcs

import (
	"fmt"
	"reflect"
)

// kindFuncs tell what a value is. The names that they give are Go's, as in sprig:
// "map[string]interface {}" and "slice", not "map" and "list".
var kindFuncs = map[string]any{
	"typeOf":     typeOf,
	"typeIs":     func(name string, v any) bool { return name == typeOf(v) },
	"typeIsLike": func(name string, v any) bool { return name == typeOf(v) },
	"kindOf":     kindOf,
	"kindIs":     func(name string, v any) bool { return name == kindOf(v) },
}

func typeOf(v any) string { return fmt.Sprintf("%T", v) }

func kindOf(v any) string { return reflect.ValueOf(v).Kind().String() }
