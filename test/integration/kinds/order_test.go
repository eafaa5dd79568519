package kinds

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// secret is a child that the folder did not have at first.
const secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .metadata.name }}\nstringData:\n  text: {{ .spec.text }}\n"

// TestRightsComeLate: a changed folder reaches the operator before the rights
// that it needs, as when Helm applies ConfigMaps before ClusterRoles: its rollout
// waits for them, and is not stopped.
func TestRightsComeLate(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"unknown": configMap, "read": configMap + reads} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			late(t, newKind(t, name+".example.com", map[string]string{"map.yaml": first}))
		})
	}
}

// reads makes the operator watch Secrets, and write none.
const reads = "  other: {{ (lookup \"v1\" \"Secret\" .metadata.namespace \"other\").metadata.name }}\n"

func late(t *testing.T, k packedKind) {
	in := install(t, k, "")
	ns := cluster.Namespace(t)
	in.kubectl(t, in.pack(t, in.crd()), "apply", "-f", "-")
	names := []string{"a", "b", "c"}
	for _, name := range names {
		in.make(t, ns, name)
	}
	for _, name := range names {
		in.ready(t, ns, name)
	}
	in.write(t, map[string]string{"secret.yaml": secret})
	in.kubectl(t, in.pack(t, in.crd(), "--include", "folder"), "apply", "-f", "-")
	kit.Eventually(t, "a resource lacks the right", func() error { return in.forbidden(ns, names) })
	in.kubectl(t, in.pack(t, in.crd(), "--include", "roles"), "apply", "-f", "-")
	kit.Eventually(t, "all have their Secret", func() error {
		if told := in.told(t); told.State == rollout.Stopped {
			t.Fatalf("the rollout stopped: %s", told)
		}
		for _, name := range names {
			if _, err := cluster.Get("v1", "Secret", ns, name); err != nil {
				return err
			}
		}
		return nil
	})
	kit.Eventually(t, "the rollout is complete", func() error {
		if told := in.told(t); told.State != rollout.Complete {
			return fmt.Errorf("%s", told)
		}
		return nil
	})
}

// forbidden says that no resource misses the right to a child.
func (in *installed) forbidden(namespace string, names []string) error {
	var errs []error
	for _, name := range names {
		o, err := cluster.Get(in.group+"/v1", "Web", namespace, name)
		if err == nil {
			err = kit.IsCondition(o, "Ready", "False", "secrets")
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// told is the record of the rollout.
func (in *installed) told(t *testing.T) rollout.Record {
	t.Helper()
	crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", in.crd())
	if err != nil {
		t.Fatal(err)
	}
	return rollout.ParseRecord(strings.TrimSpace(crd.GetAnnotations()[api.AnnotationRollout]))
}
