package ownership

import (
	"encoding/base64"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// verbatim are the roots under which every string is a person's own text,
// never a quantity.
var verbatim = []string{"metadata", "data", "stringData", "binaryData"}

// isNormalised reports whether got is the server's way to write sent.
func (c *comparison) isNormalised(sent, got any) bool {
	root := *c.path[0].FieldName
	if c.secret && root == "data" {
		return sameBase64(sent, got)
	}
	return !slices.Contains(verbatim, root) && sameQuantity(sent, got)
}

func sameBase64(a, b any) bool {
	x, ok1 := a.(string)
	y, ok2 := b.(string)
	if !ok1 || !ok2 {
		return false
	}
	p, err1 := base64.StdEncoding.DecodeString(x)
	q, err2 := base64.StdEncoding.DecodeString(y)
	return err1 == nil && err2 == nil && string(p) == string(q)
}

// sameQuantity reports whether two numbers or strings are equal quantities, as
// "1000m", "1" and 1 are.
func sameQuantity(a, b any) bool {
	x, ok1 := parseQuantity(a)
	y, ok2 := parseQuantity(b)
	return ok1 && ok2 && x.Cmp(y) == 0
}

// parseQuantity returns a number or string as a quantity.
func parseQuantity(v any) (resource.Quantity, bool) {
	text, ok := v.(string)
	if _, isNumber := toNumber(v); isNumber {
		text, ok = fmt.Sprint(v), true
	}
	if !ok {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}
