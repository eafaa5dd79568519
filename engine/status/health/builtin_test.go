package health

import "testing"

// TestBuiltInCompiles: the program does not start with a list that is wrong.
func TestBuiltInCompiles(t *testing.T) {
	list, err := readBuiltIn(builtInText)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range list {
		if len(rule.EmptyAlls()) > 0 {
			t.Errorf("%s: filter(…).all(…) is true for an empty list", rule)
		}
	}
	if _, err := readBuiltIn([]byte("healthCheckExprs: [{apiVersion: a/v1, curent: 'true'}]")); err == nil {
		t.Error("an unknown field is taken")
	}
	if _, err := readBuiltIn([]byte("healthCheckExprs: [{apiVersion: a/v1, current: 'true &&'}]")); err == nil {
		t.Error("a wrong expression is taken")
	}
}
