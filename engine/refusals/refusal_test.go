package refusals

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/transport"
)

// TestUnderstand: answers of an API server 1.36, what they mean, and that no
// value of the document is in what is said of them.
func TestUnderstand(t *testing.T) {
	for name, c := range map[string]struct {
		status metav1.Status
		cause  Cause
		text   string
	}{
		"policy": {
			metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid,
				Message: `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no twos here`,
				Details: &metav1.StatusDetails{Name: "a", Kind: "configmaps",
					Causes: []metav1.StatusCause{{Message: `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no twos here`}}}},
			Policy, `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no twos here; change the child as the policy demands, or exclude it from the policy`,
		},
		"webhook": {
			metav1.Status{Code: 400, Reason: metav1.StatusReasonBadRequest,
				Message: `admission webhook "w.example.com" denied the request: not today`},
			Webhook, `admission webhook "w.example.com" denied the request: not today; change the child as the webhook demands, or exclude it from the webhook`,
		},
		"unknown field": {
			metav1.Status{Code: 500, Message: `failed to create typed patch object (ns/a; /v1, Kind=ConfigMap): .dat: field not declared in schema`},
			Invalid, `dat: field not declared in schema`,
		},
		"mistyped map": {
			metav1.Status{Code: 500,
				Message: "failed to create typed patch object (ns/a; /v1, Kind=Secret): errors:\n  .data: expected map, got &{[hunter2]}\n  .typ: field not declared in schema"},
			Invalid, "data: expected map, got something else; typ: field not declared in schema",
		},
		"mistyped map, in another wording": {
			metav1.Status{Code: 500, Message: "failed to create typed patch object (ns/a): expected map, got &{[hunter2\nhunter3]}"},
			Invalid, "failed to create typed patch object (ns/a): expected map, got something else",
		},
		"conflict": {metav1.Status{Code: 409, Message: "it is there"}, Exists, "it is there"},
		"label without details": {
			metav1.Status{Code: 422, Message: `a valid label must be an empty string`},
			Invalid, "a valid label must be an empty string; limit the value in the CRD by a pattern, or replace in the template what does not fit",
		},
		"recreated": {
			metav1.Status{Code: 422, Message: `ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable`,
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "metadata.uid",
					Message: `Invalid value: "x": field is immutable`}}}},
			Gone, `metadata.uid: Invalid value: field is immutable`,
		},
		"not about the uid": {
			metav1.Status{Code: 422, Message: `Pod "a" is invalid: spec.x: Unsupported value: "y": supported values: "metadata.uid"`,
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "spec.x",
					Message: `Unsupported value: "y": supported values: "metadata.uid"`}}}},
			Invalid, `spec.x: Unsupported value supported values: "metadata.uid"`,
		},
		"not converted": {
			metav1.Status{Code: 500,
				Message: `failed to convert new object (ns/a; /v1, Kind=Secret) to proper version (v1): illegal base64 data at input byte 0`},
			Invalid, `a value is not base64; print it with b64enc`,
		},
		"more than etcd takes": {metav1.Status{Code: 500, Message: "etcdserver: request is too large"}, Invalid,
			"etcdserver: request is too large"},
		"more than is sent to etcd": {
			metav1.Status{Code: 500,
				Message: "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2100000 vs. 2097152)"},
			Invalid, "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2100000 vs. 2097152)",
		},
		"no right": {
			metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden,
				Message: `configmaps "a" is forbidden: User "u" cannot patch resource "configmaps" in API group "" in the namespace "ns"`},
			Forbidden, `configmaps "a" is forbidden: User "u" cannot patch resource "configmaps" in API group "" in the namespace "ns"; the missing rule, in a Role in namespace "ns": {apiGroups: [""], resources: ["configmaps"], verbs: ["patch"]}`,
		},
		"no right in the cluster": {
			metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden,
				Message: `nodes "a" is forbidden: User "u" cannot delete resource "nodes" in API group "x.example.com" at the cluster scope`},
			Forbidden, `nodes "a" is forbidden: User "u" cannot delete resource "nodes" in API group "x.example.com" at the cluster scope; the missing rule, in a ClusterRole: {apiGroups: ["x.example.com"], resources: ["nodes"], verbs: ["delete"]}`,
		},
		"no right to create, before 1.32": {
			metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: `deployments.apps "a" is forbidden: `},
			Forbidden, `deployments.apps "a" is forbidden; the missing rule, in a Role in namespace "ns": {apiGroups: ["apps"], resources: ["deployments"], verbs: ["create"]}`,
		},
		"no right to block": {
			metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden,
				Message: `configmaps "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`},
			Forbidden, `configmaps "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>; the missing rule, in a Role in namespace "ns": {apiGroups: ["example.com"], resources: ["webs/finalizers"], verbs: ["update"]}`,
		},
		"no right to own": {
			metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden,
				Message: `deployments.apps "a" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`},
			Forbidden, `deployments.apps "a" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>; the missing rule, in a Role in namespace "ns": {apiGroups: ["apps"], resources: ["deployments"], verbs: ["delete"]}`,
		},
		"not known to admission yet": {
			metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden,
				Message: `configmaps "a" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion example.com/v1 Kind Web: no matches`},
			TryAgain, `configmaps "a" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion example.com/v1 Kind Web: no matches`,
		},
		"quota": {metav1.Status{Code: 403, Message: "exceeded quota: q"}, Quota, "exceeded quota: q"},
		"going": {metav1.Status{Code: 405, Message: "create not allowed while custom resource definition is terminating"}, NotServed,
			"create not allowed while custom resource definition is terminating"},
		"not readable": {
			metav1.Status{Code: 500, Message: `Internal error occurred: StorageError: corrupt object, Code: 7, Key: /sick.example.com/sicks/team-b/hidden, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=215: conversion webhook for sick.example.com/v1beta1, Kind=Sick failed: Post "https://127.0.0.1:1/convert": dial tcp 127.0.0.1:1: connect: connection refused`},
			TryAgain, `conversion webhook for sick.example.com/v1beta1, Kind=Sick failed: Post "https://127.0.0.1:1/convert": dial tcp 127.0.0.1:1: connect: connection refused`,
		},
		"busy": {metav1.Status{Code: 503, Message: "busy"}, TryAgain, "busy"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ClassifyWrite(&apierrors.StatusError{ErrStatus: c.status}, map[string]any{"metadata": map[string]any{
				"namespace": "ns", "annotations": map[string]any{"jacquard.dev/owner": "webs.example.com/ns/r"}}})
			if r.Cause != c.cause || r.Error() != c.text {
				t.Errorf("cause %d: %s\nwant %d: %s", r.Cause, r, c.cause, c.text)
			}
		})
	}
	parts := metav1.Status{Code: 422, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "spec.schedule",
		Message: `Invalid value: "hunter2 hunter3: x": failed to parse int from hunter2: invalid syntax`}}}}
	sent := map[string]any{"spec": map[string]any{"schedule": "hunter2 hunter3: x"}}
	if got, want := ClassifyWrite(&apierrors.StatusError{ErrStatus: parts},
		sent).Error(), "spec.schedule: Invalid value: failed to parse int from …: invalid syntax"; got != want {
		t.Errorf("a value in parts: %s\nwant %s", got, want)
	}
	if r := Classify(errors.New("connection refused by 192.0.2.1")); r.Cause != TryAgain || r.Error() != "the API server cannot be reached" {
		t.Errorf("no answer at all: %d %s", r.Cause, r)
	}
	late := fmt.Errorf("get: %w", &transport.TimeoutError{Limit: time.Minute})
	if r := Classify(late); r.Cause != TryAgain || r.Error() != "the API server gave no answer within 1m0s" {
		t.Errorf("no answer in time: %d %s", r.Cause, r)
	}
}
