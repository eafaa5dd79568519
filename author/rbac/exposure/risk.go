package exposure

import (
	"slices"
	"strings"
)

// A Risk is what a field of a child decides, the most dangerous first.
type Risk string

// The risks.
const (
	Image           Risk = "image"
	Command         Risk = "command"
	Env             Risk = "env"
	Volumes         Risk = "volumes"
	ServiceAccount  Risk = "service account"
	SecurityContext Risk = "security context"
	Host            Risk = "host"
	Rights          Risk = "rights"
	Hosts           Risk = "host names"
	Other           Risk = "other"
)

// risks are all risks, in the order in which they are told.
var risks = []Risk{Image, Command, Env, Volumes, ServiceAccount, SecurityContext, Host, Rights, Hosts, Other}

// ofText reports whether it takes a text to do harm: a number in an argument is a
// number, but a boolean may make a container privileged.
func (r Risk) ofText() bool {
	return r == Image || r == Command || r == Env || r == Rights || r == Hosts
}

// names say which risk a field of this name is, wherever it is in a child.
var names = map[string]Risk{
	"image":   Image,
	"command": Command, "args": Command, "exec": Command,
	"env": Env, "envFrom": Env,
	"volumes": Volumes, "hostPath": Volumes, "volumeMounts": Volumes, "volumeDevices": Volumes,
	"serviceAccountName": ServiceAccount, "serviceAccount": ServiceAccount, "automountServiceAccountToken": ServiceAccount,
	"securityContext": SecurityContext,
	"hostNetwork":     Host, "hostPID": Host, "hostIPC": Host, "hostPort": Host, "hostUsers": Host,
	"subjects": Rights, "roleRef": Rights, "rules": Rights, "aggregationRule": Rights,
}

// riskOf is the risk of a field of a kind of child: that of the first of its
// steps that has one. Names mean other things in the rules of an Ingress and in
// free maps, whose keys nobody declares.
func riskOf(kind string, path []string) Risk {
	if kind == "Ingress" || kind == "Route" {
		if slices.ContainsFunc(path, func(step string) bool { return trimBrackets(step) == "host" || trimBrackets(step) == "hosts" }) {
			return Hosts
		}
		return Other
	}
	for i, step := range path {
		switch trimBrackets(step) {
		case "data", "stringData", "binaryData", "labels", "annotations", "matchLabels", "nodeSelector":
			return Other
		}
		risk, risky := names[trimBrackets(step)]
		if risky && (risk != Rights || i == 0 && strings.Contains(kind, "Role")) {
			return risk
		}
	}
	return Other
}

// trimBrackets returns a step without the brackets of a list.
func trimBrackets(step string) string { return strings.TrimRight(step, "[]") }
