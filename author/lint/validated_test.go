package lint

import "testing"

func TestInvalid(t *testing.T) {
	const (
		container = "spec.template.spec.containers[]"
		label     = " is refused: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
			"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	)
	for _, tt := range []struct {
		subject, path string
		value         any
		want          string // behind the path and the subject
	}{
		{"Deployment apps/v1", container + ".image", "", " must not be empty"},
		{"Deployment apps/v1", container + ".image", "nginx", ""},
		{"Pod v1", "spec.initContainers[].image", "", " must not be empty"},
		{"Deployment apps/v1", container + ".imagePullPolicy", "", ""},
		{"Deployment apps/v1", container + ".name", "", " must not be empty"},
		{"Deployment apps/v1", container + ".name", "A_b", label},
		{"Deployment apps/v1", container + ".name", "a.b", " must not contain dots"},
		{"Deployment apps/v1", container + ".name", "1-a", ""},
		{"Deployment apps/v1", container + ".env[].name", "A.b", ""},
		{"Deployment apps/v1", container + ".ports[].name", "more-than-fifteen", " must be no more than 15 characters"},
		{"Deployment apps/v1", container + ".ports[].name", "80", " must contain at least one letter (a-z)"},
		{"Deployment apps/v1", container + ".ports[].name", "", ""},
		{"Deployment apps/v1", container + ".ports[].name", nil, ""},
		{"Service v1", "metadata.name", "a.b", " must not contain dots"},
		{"Service v1", "metadata.name", "1-a", " must begin with a letter, for Kubernetes before 1.36"},
		{"Service v1", "metadata.name", "A", label},
		{"Service v1", "metadata.name", "a-1", ""},
		{"Service v1", "spec.ports[].name", "more-than-fifteen", ""},
		{"Service v1", "spec.ports[].name", "A", label},
		{"Service serving.knative.dev/v1", "metadata.name", "a.b", ""},
		{"Namespace v1", "metadata.name", "1.a", " must not contain dots"},
		{"Namespace v1", "metadata.name", "1-a", ""},
		{"ConfigMap v1", "metadata.name", "1.a", ""},
		{"Deployment apps/v1", container + ".resources.requests.cpu", int64(-1), " must not be negative"},
		{"Deployment apps/v1", container + ".resources.limits[nvidia.com/gpu]", "-1", " must not be negative"},
		{"Deployment apps/v1", container + ".resources.limits.*", -0.5, " must not be negative"},
		{"Deployment apps/v1", container + ".resources.limits.cpu", int64(0), ""},
		{"Deployment apps/v1", container + ".resources.limits.cpu", "lots", ""},
		{"PersistentVolumeClaim v1", "spec.resources.requests.storage", "0Gi", " must be greater than 0"},
		{"StatefulSet apps/v1", "spec.volumeClaimTemplates[].spec.resources.requests.storage", int64(-1), " must be greater than 0"},
		{"PersistentVolumeClaim v1", "spec.resources.requests.storage", "1Gi", ""},
	} {
		want := tt.want
		if want != "" {
			want = tt.path + " of " + tt.subject + want
		}
		if got := validationError(tt.subject, tt.path, tt.value); got != want {
			t.Errorf("%v:\ngot  %s\nwant %s", tt.value, got, want)
		}
	}
}
