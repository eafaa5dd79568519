package typecheck

import "github.com/jacquard-operator/jacquard/author/signature"

// kindNames are the names of the kinds by which kindIs and typeIs ask.
var kindNames = map[string]signature.Kinds{
	"string": signature.String, "bool": signature.Bool, "int64": signature.Int, "float64": signature.Float,
	"slice": signature.List, "map": signature.Map, "invalid": signature.Nil,
	"[]interface {}": signature.List, "map[string]interface {}": signature.Map, "<nil>": signature.Nil,
}
