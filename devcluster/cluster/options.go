package cluster

import (
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jacquard-operator/jacquard/devcluster/machine"
)

// What nodes can be.
const (
	simulatedNodes = "simulated"
	realNodes      = "real"
)

// partNames are the parts of a whole cluster, in the order of starting, by
// what its nodes are.
var partNames = map[string][]string{
	simulatedNodes: {"etcd", "apiserver", "controller-manager", "scheduler", "kwok", "router"},
	realNodes:      {"etcd", "apiserver", "containerd", "controller-manager", "scheduler", "kubelet", "kube-proxy", "router"},
}

// options are what the command line of `devcluster up` says.
type options struct {
	dir        string
	node       string // what nodes are: simulated or real
	nodes      int
	labels     map[string]map[string]string // labels of a node, by the node's name
	parts      []string                     // a subset of partNames, in their order
	users      []user
	mirror     string // URL of the registry that real nodes pull everything from, or ""
	containerd string // path of the program, or "" for the one that is installed
	programs   string // folder of programs that run in place of devcluster's own, or ""
	plain      bool   // the API server's default admission alone
	gates      string // the API server's feature gates, as it takes them, or ""
	restart    bool   // start a part again that ends once the cluster is ready
	untilStdin bool
}

// A user is somebody the API server knows by a static token.
type user struct {
	name   string // names the kubeconfig file
	user   string
	groups []string
}

func parseOptions(args []string, output io.Writer) (options, error) {
	o := options{labels: map[string]map[string]string{}}
	flags := flag.NewFlagSet("devcluster up", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&o.dir, "dir", "", "keep everything in this `DIR`; by default a temporary one, removed at the end")
	flags.StringVar(&o.node, "node", simulatedNodes, "what nodes are: `simulated|real`; real ones run Pods, and need root on Linux")
	flags.IntVar(&o.nodes, "nodes", -1, "`number` of nodes: node-0, node-1 …; by default 3 simulated ones or 1 real one")
	components := flags.String("components", "", "`parts` to start; by default all of "+strings.Join(partNames[simulatedNodes], ",")+
		"; with real nodes of "+strings.Join(partNames[realNodes], ","))
	flags.StringVar(&o.mirror, "registry-mirror", "",
		"real nodes pull all images from the registry at this `URL`, such as http://127.0.0.1:5000, whatever registry their names say")
	flags.StringVar(&o.containerd, "containerd", "", "real nodes run this `PROGRAM`; by default the containerd that is installed")
	flags.StringVar(&o.programs, "programs", "",
		"run what this `DIR` has of etcd, kube-apiserver, kube-controller-manager …, in place of devcluster's own; it may be of another version")
	flags.BoolVar(&o.plain, "default-admission", false,
		"the API server's default admission alone, without OwnerReferencesPermissionEnforcement; simulated nodes only")
	flags.StringVar(&o.gates, "feature-gates", "", "the API server's feature gates: a `LIST` such as ShardedListAndWatch=true")
	flags.BoolVar(&o.restart, "restart", false, "once the cluster is ready, start a part again that ends, in place of taking the others down")
	flags.BoolVar(&o.untilStdin, "until-stdin-closes", false, "also take the cluster down when standard input ends")
	flags.Func("node-label", "label a node: `NODE:KEY=VALUE`; repeatable", o.addLabel)
	flags.Func("token", "one more user, with DIR/NAME.kubeconfig: `NAME=USER[:GROUP,…]`; repeatable", o.addUser)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	for _, check := range []func() error{o.checkNode, func() error { return o.setNodes(flags) },
		func() error { return o.setParts(*components) }, o.checkLabels, o.checkPrograms} {
		if err := check(); err != nil {
			return o, err
		}
	}
	return o, nil
}

// checkNode wants a known sort of node, and what only real ones have with
// those alone.
func (o *options) checkNode() error {
	if partNames[o.node] == nil {
		return fmt.Errorf("--node %q: want %s or %s", o.node, simulatedNodes, realNodes)
	}
	for name, asked := range map[string]bool{"restart": o.restart, "default-admission": o.plain} {
		if asked && o.node == realNodes {
			return fmt.Errorf("--%s: only with simulated nodes", name)
		}
	}
	for name, value := range map[string]string{"registry-mirror": o.mirror, "containerd": o.containerd} {
		if value != "" && o.node != realNodes {
			return fmt.Errorf("--%s: simulated nodes run nothing; add --node real", name)
		}
	}
	if o.mirror == "" {
		return nil
	}
	if u, err := url.Parse(o.mirror); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		strings.Trim(u.Path, "/") != "" {
		return fmt.Errorf("--registry-mirror %q: want a URL such as http://127.0.0.1:5000", o.mirror)
	}
	o.mirror = strings.TrimSuffix(o.mirror, "/")
	return nil
}

// setNodes fills in the number of nodes that is usual.
func (o *options) setNodes(flags *flag.FlagSet) error {
	asked := false
	flags.Visit(func(f *flag.Flag) { asked = asked || f.Name == "nodes" })
	if !asked {
		o.nodes = map[string]int{simulatedNodes: 3, realNodes: 1}[o.node]
	}
	if o.nodes < 0 {
		return fmt.Errorf("--nodes %d: must not be negative", o.nodes)
	}
	if o.node == realNodes && o.nodes > machine.MaxNodes {
		return fmt.Errorf("--nodes %d: at most %d real ones", o.nodes, machine.MaxNodes)
	}
	return nil
}

// addLabel reads NODE:KEY=VALUE.
func (o *options) addLabel(text string) error {
	node, label, ok := strings.Cut(text, ":")
	key, value, ok2 := strings.Cut(label, "=")
	if !ok || !ok2 || node == "" || key == "" {
		return fmt.Errorf("want NODE:KEY=VALUE")
	}
	if o.labels[node] == nil {
		o.labels[node] = map[string]string{}
	}
	o.labels[node][key] = value
	return nil
}

// addUser reads NAME=USER[:GROUP,…]. Groups may hold colons, a user may not.
func (o *options) addUser(text string) error {
	name, rest, ok := strings.Cut(text, "=")
	account, groups, _ := strings.Cut(rest, ":")
	if !ok || name == "" || account == "" {
		return fmt.Errorf("want NAME=USER[:GROUP,…]")
	}
	if strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("the name %q is to be a file's name", name)
	}
	if slices.ContainsFunc(o.users, func(other user) bool { return other.name == name }) {
		return fmt.Errorf("two users named %q", name)
	}
	u := user{name: name, user: account}
	if groups != "" {
		u.groups = strings.Split(groups, ",")
	}
	o.users = append(o.users, u)
	return nil
}

// setParts reads the list of parts; each needs the API server, which needs
// etcd, and kubelet needs containerd.
func (o *options) setParts(list string) error {
	known := partNames[o.node]
	if list == "" {
		o.parts = known
		return nil
	}
	wanted := append(strings.Split(list, ","), "etcd", "apiserver")
	if slices.Contains(wanted, "kubelet") {
		wanted = append(wanted, "containerd")
	}
	for _, name := range wanted {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--components: unknown part %q; known with %s nodes: %s", name, o.node, strings.Join(known, ","))
		}
	}
	for _, name := range known {
		if slices.Contains(wanted, name) {
			o.parts = append(o.parts, name)
		}
	}
	return nil
}

func (o *options) checkLabels() error {
	for name := range o.labels {
		number, err := strconv.Atoi(strings.TrimPrefix(name, "node-"))
		if err != nil || name != nodeName(number) || number >= o.nodes {
			return fmt.Errorf("--node-label: there is no node %q", name)
		}
	}
	return nil
}

// checkPrograms wants a folder, and makes its path absolute, since parts have a
// working directory of their own.
func (o *options) checkPrograms() (err error) {
	if o.programs == "" {
		return nil
	}
	if _, err := os.ReadDir(o.programs); err != nil {
		return fmt.Errorf("--programs: %w", err)
	}
	o.programs, err = filepath.Abs(o.programs)
	return err
}

// programOf returns the path of the program that runs a command in place of
// devcluster itself, or "".
func (o *options) programOf(command string) string {
	path := filepath.Join(o.programs, command)
	if info, err := os.Stat(path); o.programs == "" || err != nil || info.IsDir() {
		return ""
	}
	return path
}

func (o *options) has(part string) bool { return slices.Contains(o.parts, part) }
