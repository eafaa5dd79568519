package cluster

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseOptions(t *testing.T) {
	got, err := parseOptions([]string{
		"--nodes", "2", "--components", "kwok,controller-manager",
		"--node-label", "node-1:daemon=logs", "--node-label", "node-1:zone=a=b",
		"--default-admission", "--feature-gates", "A=true,B=false", "--token", "op=jacquard", "--token", "dev=ann:system:masters,devs",
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := options{
		node:   simulatedNodes,
		nodes:  2,
		labels: map[string]map[string]string{"node-1": {"daemon": "logs", "zone": "a=b"}},
		parts:  []string{"etcd", "apiserver", "controller-manager", "kwok"},
		plain:  true,
		gates:  "A=true,B=false",
		users: []user{
			{name: "op", user: "jacquard"},
			{name: "dev", user: "ann", groups: []string{"system:masters", "devs"}},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{}, user{})); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// TestParseRealNodes: real nodes have parts of their own, each with what it
// needs, and there is one of them.
func TestParseRealNodes(t *testing.T) {
	got, err := parseOptions(strings.Fields("--node real --components kubelet --registry-mirror http://127.0.0.1:5000/"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := options{
		node:   realNodes,
		nodes:  1,
		labels: map[string]map[string]string{},
		parts:  []string{"etcd", "apiserver", "containerd", "kubelet"},
		mirror: "http://127.0.0.1:5000",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{}, user{})); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestParseOptionsRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--components etcd,docker":                   `unknown part "docker"`,
		"--node real --default-admission":            "--default-admission: only with simulated nodes",
		"--nodes -1":                                 "must not be negative",
		"--node real --nodes 101":                    "at most 100 real ones",
		"--node docker":                              "want simulated or real",
		"--node real --components kwok":              `unknown part "kwok"; known with real nodes: etcd,`,
		"--registry-mirror http://127.0.0.1:5000":    "add --node real",
		"--node real --registry-mirror 127.0.0.1:50": "want a URL such as",
		"--nodes 1 --node-label node-1:a=b":          `there is no node "node-1"`,
		"--node-label a=b":                           "want NODE:KEY=VALUE",
		"--token jacquard":                           "want NAME=USER",
		"--programs testdata/nowhere":                "--programs: open testdata/nowhere: no such file",
		"--token ../x=jacquard":                      "to be a file's name",
		"now":                                        `unexpected argument "now"`,
		"--token a=one --token a=two":                `two users named "a"`,
		"--token a=system:kube-scheduler --nodes x2": "invalid value",
	} {
		t.Run(args, func(t *testing.T) {
			_, err := parseOptions(strings.Fields(args), io.Discard)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want one with %q", err, want)
			}
		})
	}
}
