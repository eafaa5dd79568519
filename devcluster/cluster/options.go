package cluster

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// partNames are the parts of a whole cluster, in the order of starting.
var partNames = []string{"etcd", "apiserver", "controller-manager", "scheduler", "kwok", "router"}

// options are what the command line of `devcluster up` says.
type options struct {
	dir        string
	nodes      int
	labels     map[string]map[string]string // labels of a node, by the node's name
	parts      []string                     // a subset of partNames, in their order
	users      []user
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
	flags.IntVar(&o.nodes, "nodes", 3, "`number` of simulated nodes: node-0, node-1 …")
	components := flags.String("components", strings.Join(partNames, ","), "`parts` to start")
	flags.BoolVar(&o.untilStdin, "until-stdin-closes", false, "also take the cluster down when standard input ends")
	flags.Func("node-label", "label a node: `NODE:KEY=VALUE`; repeatable", o.addLabel)
	flags.Func("token", "one more user, with DIR/NAME.kubeconfig: `NAME=USER[:GROUP,…]`; repeatable", o.addUser)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.nodes < 0 {
		return o, fmt.Errorf("--nodes %d: must not be negative", o.nodes)
	}
	if err := o.setParts(*components); err != nil {
		return o, err
	}
	return o, o.checkLabels()
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

// setParts reads the list of parts; each needs the API server, which needs etcd.
func (o *options) setParts(list string) error {
	wanted := strings.Split(list, ",")
	for _, name := range wanted {
		if !slices.Contains(partNames, name) {
			return fmt.Errorf("--components: unknown part %q; known: %s", name, strings.Join(partNames, ","))
		}
	}
	for _, name := range partNames {
		if slices.Contains(wanted, name) || name == "etcd" || name == "apiserver" {
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

func (o *options) has(part string) bool { return slices.Contains(o.parts, part) }
