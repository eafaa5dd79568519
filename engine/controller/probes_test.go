package controller

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/folder"
)

// TestReadiness: the process waits for the folders that it is to wait for: a
// broken one that a team has added vetoes no upgrade, unless it is asked for;
// the probe says which it is in any case.
func TestReadiness(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established,
		Status: apiextensionsv1.ConditionTrue}}
	const rooted, released, teams = "rooted.example.com", "released.example.com", "teams.example.com"
	for ready, waits := range map[Readiness][]string{ReadyAll: {rooted, released, teams}, ReadyRelease: {rooted, released},
		"": {rooted, released}, ReadyNone: nil} {
		for _, broken := range []string{rooted, released, teams, ""} {
			o := readOperator(Options{Ready: ready, Release: "jacquard"}.withDefaults())
			for _, name := range []string{rooted, released, teams} {
				o.kinds[name] = &kindState{crd: crd, loaded: name != broken}
			}
			o.stateOf(broken).report.trouble = errors.New("templates/" + broken + "/a.yaml:1:1: it is wrong")
			o.sources.files = []folder.Source{{Kind: rooted, Folder: &folder.Folder{Name: rooted}, Rooted: true}}
			o.sources.maps = folder.FromConfigMaps([]corev1.ConfigMap{mapOf(released, "jacquard"), mapOf(teams, "team-a")})
			o.sources.pickFolders()

			want, answer := 200, httptest.NewRecorder()
			for _, name := range waits {
				if name == broken {
					want = 500
				}
			}
			o.probeHandler().ServeHTTP(answer, httptest.NewRequest("GET", "/readyz?verbose", nil))
			text := answer.Body.String()
			if answer.Code != want || (broken != "") != strings.Contains(text, "templates/"+broken+"/a.yaml:1:1: it is wrong") {
				t.Errorf("%q, %s is broken: %d, want %d: %s", ready, broken, answer.Code, want, text)
			}
			if err := o.Ready(); (err == nil) != (want == 200) {
				t.Errorf("%q, %s is broken: %v", ready, broken, err)
			}
		}
	}
	if err := Readiness("some").checkValue(); err == nil {
		t.Error("it may be anything")
	}
}

// TestReadyzNamesWhatCannotBeListed: what cannot be listed is in the body of /readyz, by
// kind, and makes nothing unready.
func TestReadyzNamesWhatCannotBeListed(t *testing.T) {
	o := readOperator(Options{}.withDefaults())
	for _, name := range []string{"sick.example.com", "healthy.example.com"} {
		place := cluster.Place{IsListed: true, IsCurrent: true}
		if name == "sick.example.com" {
			place = cluster.Place{Err: errors.New("conversion webhook failed")}
		}
		resources := kindResources{cache: knownCache{places: []cluster.Place{place}}, kind: name}
		o.kinds[name] = &kindState{controller: &kindController{name: name, resources: resources, versions: newKindVersions(nil, nil)}}
	}
	for _, url := range []string{"/readyz", "/readyz?verbose"} {
		answer := httptest.NewRecorder()
		o.probeHandler().ServeHTTP(answer, httptest.NewRequest("GET", url, nil))
		const want = "ok\ncannot be listed or watched now, which keeps no other kind from being served:\n" +
			"sick.example.com: resources cannot be listed: conversion webhook failed\n"
		if answer.Code != 200 || answer.Body.String() != want {
			t.Errorf("%s: %d %s", url, answer.Code, answer.Body)
		}
	}
}

func mapOf(kind, release string) corev1.ConfigMap {
	return corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "jacquard", Name: kind,
			Labels: map[string]string{api.LabelKind: kind, "app.kubernetes.io/instance": release}},
		Data: map[string]string{"a.yaml": "a: 1\n"},
	}
}

// TestHealthzOfHungProcess: a process whose state stays locked is not healthy, so that it is
// restarted; one that is locked for a moment is.
func TestHealthzOfHungProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := assembleParts(&process{options: Options{}.withDefaults()})
		defer o.names.ShutDown()
		for _, c := range []struct {
			locked time.Duration
			want   int
		}{{0, 200}, {time.Second, 200}, {time.Minute, 500}} {
			if c.locked > 0 {
				o.mu.Lock()
				time.AfterFunc(c.locked, o.mu.Unlock)
			}
			answer := httptest.NewRecorder()
			o.probeHandler().ServeHTTP(answer, httptest.NewRequest("GET", "/healthz", nil))
			if answer.Code != c.want {
				t.Errorf("locked for %s: %d, want %d", c.locked, answer.Code, c.want)
			}
		}
		time.Sleep(time.Minute)
	})
}
