package crdfile

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestDescribe(t *testing.T) {
	path := field.NewPath("spec", "a")
	tests := []struct {
		err  *field.Error
		want string
	}{
		{field.Required(path, ""), "spec.a: is required"},
		{field.Required(path, "say which"), "spec.a: is required: say which"},
		{field.Invalid(path, int64(11), "spec.a in body should be less than 10"), "spec.a: must be < 10 (is 11)"},
		{field.Invalid(path, 1.5, "spec.a in body should be greater than 2"), "spec.a: must be > 2 (is 1.5)"},
		{field.Invalid(path, true, "no"), "spec.a: no (is true)"},
		{field.Invalid(path, "hunter2", "cannot use hunter2 here"), "spec.a: cannot use … here"},
		{field.Invalid(path, "pw", `cannot use "pw" here, nor pwd`), `spec.a: cannot use "…" here, nor pwd`},
		{field.Invalid(path, []string{"hunter2"}, "no"), "spec.a: no"},
		{field.Invalid(path, "hunter2", ""), "spec.a: is invalid"},
		{field.Invalid(nil, "x", "the whole is bad"), "the whole is bad"},
		{field.Invalid(path, "hunter2", `spec.a in body must be of type ipv4: "hunter2"`), "spec.a: must be of type ipv4"},
		{field.Invalid(path, "integer", `spec.a in body must be of type string: "integer"`), "spec.a: must be of type string, not integer"},
		{field.Invalid(path, "x", "spec.a in body shouldn't contain duplicates"), "spec.a: must not contain duplicates"},
		{field.Invalid(path, "x", "should be as the author says"), "spec.a: should be as the author says"},
		{field.NotSupported(path, "small!", []string{"small", "large"}), `spec.a: must be one of "small", "large"`},
		{field.NotSupported(path, int64(3), []string{"1", "2"}), `spec.a: must be one of "1", "2" (is 3)`},
		{field.Duplicate(path, "hunter2"), "spec.a: occurs twice"},
		{field.Forbidden(path, "not here"), "spec.a: is forbidden: not here"},
		{field.NotFound(path, "hunter2"), "spec.a: was not found"},
		{field.TooLong(path, "hunter2", 3), "spec.a: may not be more than 3 bytes"},
		{field.TooMany(path, 4, 3), "spec.a: must have at most 3 items"},
		{field.InternalError(path, errors.New("oops")), "spec.a: could not be checked: oops"},
	}
	for _, tt := range tests {
		if got := Describe(tt.err); got != tt.want {
			t.Errorf("Describe(%v)\n got %s\nwant %s", tt.err, got, tt.want)
		}
	}
}
