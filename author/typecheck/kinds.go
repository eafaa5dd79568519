package typecheck

import "github.com/jacquard-operator/jacquard/engine/template/funcs"

// kindNames are the names of the kinds by which kindIs and typeIs ask.
var kindNames = map[string]funcs.Kinds{
	"string": funcs.String, "bool": funcs.Bool, "int64": funcs.Int, "float64": funcs.Float,
	"slice": funcs.List, "map": funcs.Map, "invalid": funcs.Nil,
	"[]interface {}": funcs.List, "map[string]interface {}": funcs.Map, "<nil>": funcs.Nil,
}
