package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

// A fieldUnion says which fields of a Go struct of the API exclude each other.
type fieldUnion struct {
	// by is the field whose text decides, and fallback its default. Without by, fields of
	// one alternative at most may be given.
	by, fallback string
	// with has, by field, the texts of by with which it may be given.
	with map[string][]string
	// alternatives are the groups of fields that exclude each other; nil stands for each
	// field of the struct.
	alternatives [][]string
	// derive returns the default of the field by, which the API server makes of others once
	// and keeps when they change; nil if it is a field that decides.
	derive func(value map[string]any) any
	// isKept is true if the API server accepts an excluded field.
	isKept bool
}

// choiceUnion returns the union of a field that decides about others, given as "field=TEXT,TEXT".
// An empty TEXT stands for a field that is not given.
func choiceUnion(by, fallback string, fields ...string) fieldUnion {
	u := fieldUnion{by: by, fallback: fallback, with: map[string][]string{}}
	for _, f := range fields {
		name, texts, _ := strings.Cut(f, "=")
		u.with[name] = strings.Split(texts, ",")
	}
	return u
}

// oneOf is the union of which one alternative may be given: "a", "b" or "b,c".
func oneOf(alternatives ...string) fieldUnion {
	var u fieldUnion
	for _, a := range alternatives {
		u.alternatives = append(u.alternatives, strings.Split(a, ","))
	}
	return u
}

// derivedUnion returns the union of a field whose default follows from others.
func derivedUnion(field string, derive func(map[string]any) any) fieldUnion {
	return fieldUnion{by: field, derive: derive, isKept: true}
}

// withKept returns a union whose excluded fields the API server accepts.
func (u fieldUnion) withKept() fieldUnion {
	u.isKept = true
	return u
}

// anyField is the union of which one field of the struct may be given.
var anyField = oneOf()

// unions are those of the built-in kinds, by Go type. A test tries each on an API server.
var unions = map[string][]fieldUnion{
	"admissionregistration/v1.WebhookClientConfig": {oneOf("url", "service")},
	"apps/v1.DaemonSetUpdateStrategy":              {choiceUnion("type", "RollingUpdate", "rollingUpdate=RollingUpdate").withKept()},
	"apps/v1.DeploymentStrategy":                   {choiceUnion("type", "RollingUpdate", "rollingUpdate=RollingUpdate")},
	"apps/v1.StatefulSetUpdateStrategy":            {choiceUnion("type", "RollingUpdate", "rollingUpdate=RollingUpdate")},
	"autoscaling/v2.MetricSpec": {choiceUnion("type", "", "containerResource=ContainerResource", "external=External", "object=Object",
		"pods=Pods", "resource=Resource")},
	"batch/v1.PodFailurePolicyRule":   {oneOf("onExitCodes", "onPodConditions")},
	"core/v1.AppArmorProfile":         {choiceUnion("type", "", "localhostProfile=Localhost")},
	"core/v1.EnvFromSource":           {oneOf("configMapRef", "secretRef")},
	"core/v1.EnvVar":                  {oneOf("value", "valueFrom")},
	"core/v1.EnvVarSource":            {anyField},
	"core/v1.LifecycleHandler":        {anyField},
	"core/v1.NodeSelectorRequirement": {choiceUnion("operator", "", "values=In,NotIn,Gt,Lt")},
	"core/v1.PersistentVolumeSource":  {anyField},
	"core/v1.PodResourceClaim":        {oneOf("resourceClaimName", "resourceClaimTemplateName")},
	"core/v1.ProbeHandler":            {anyField},
	"core/v1.SeccompProfile":          {choiceUnion("type", "", "localhostProfile=Localhost")},
	"core/v1.ServiceSpec": {choiceUnion("type", "ClusterIP", "loadBalancerClass=LoadBalancer", "allocateLoadBalancerNodePorts=LoadBalancer",
		"clusterIP=ClusterIP,LoadBalancer,NodePort")},
	"core/v1.Toleration": {choiceUnion("operator", "Equal", "value=Equal,Gt,Lt"),
		choiceUnion("effect", "", "tolerationSeconds=NoExecute")},
	"core/v1.TopologySpreadConstraint":              {choiceUnion("whenUnsatisfiable", "", "minDomains=DoNotSchedule")},
	"core/v1.VolumeMount":                           {oneOf("subPath", "subPathExpr")},
	"core/v1.VolumeProjection":                      {anyField},
	"core/v1.VolumeSource":                          {anyField},
	"flowcontrol/v1.LimitResponse":                  {choiceUnion("type", "", "queuing=Queue")},
	"flowcontrol/v1.PriorityLevelConfigurationSpec": {choiceUnion("type", "", "exempt=Exempt", "limited=Limited")},
	"flowcontrol/v1.Subject":                        {choiceUnion("kind", "", "group=Group", "serviceAccount=ServiceAccount", "user=User")},
	"networking/v1.IngressBackend":                  {oneOf("resource", "service")},
	"networking/v1.NetworkPolicyPeer":               {oneOf("ipBlock", "namespaceSelector,podSelector")},
	"networking/v1.NetworkPolicySpec":               {derivedUnion("policyTypes", policyTypes)},
	"networking/v1.ServiceBackendPort":              {oneOf("name", "number")},
	"policy/v1.PodDisruptionBudgetSpec":             {oneOf("maxUnavailable", "minAvailable")},
	"resource/v1.DeviceRequest":                     {oneOf("exactly", "firstAvailable")},
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.CustomResourceConversion": {choiceUnion("strategy", "None", "webhook=Webhook")},
	"k8s.io/apimachinery/pkg/apis/meta/v1.LabelSelectorRequirement":                     {choiceUnion("operator", "", "values=In,NotIn")},
}

// unionsOf returns the unions of a Go type whose fields are known.
func unionsOf(in reflect.Type, fields map[string]*Type) []fieldUnion {
	all := slices.Clone(unions[markName(in)])
	for i, u := range all {
		if u.by != "" || u.alternatives != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			all[i].alternatives = append(all[i].alternatives, []string{name})
		}
	}
	return all
}

// An Exclusion is a field that an object must not have beside what it has.
type Exclusion struct {
	// Path has names of fields, and indexes of lists.
	Path []any
	// Why is for people, such as "where type is Recreate".
	Why string
	// By is the field beside it whose value, or whose default, decides; "" for none.
	By string
	// IsKept is true if the API server accepts and keeps such a field.
	IsKept bool
	// Fits reports whether a new object would have this value all the same; nil means
	// that it would have none.
	Fits func(value any) bool
}

// Unknown stands for a value that is not known, and may be absent.
var Unknown any = unknown{}

type unknown struct{}

// Excludes returns the fields of a map of this type that its other fields exclude. Values
// may be Unknown.
func (t *Type) Excludes(value map[string]any) []Exclusion {
	if t == nil {
		return nil
	}
	var all []Exclusion
	for _, u := range t.unions {
		switch {
		case u.derive != nil && value[u.by] == nil:
			want := u.derive(value)
			all = append(all, Exclusion{Path: []any{u.by}, Why: "since it follows from others", IsKept: true,
				Fits: func(value any) bool { return reflect.DeepEqual(value, want) }})
		case u.derive != nil:
		case u.by == "":
			all = append(all, u.excludeOthers(value)...)
		default:
			all = append(all, u.excludeByChoice(value)...)
		}
	}
	return all
}

func (u fieldUnion) excludeByChoice(value map[string]any) []Exclusion {
	chosen, known := value[u.by].(string)
	if value[u.by] == nil {
		chosen, known = u.fallback, true
	}
	if !known {
		return nil
	}
	var all []Exclusion
	for _, name := range slices.Sorted(maps.Keys(u.with)) {
		if !slices.Contains(u.with[name], chosen) {
			all = append(all, Exclusion{Path: []any{name}, Why: describeChoice(u.by, chosen), By: u.by, IsKept: u.isKept})
		}
	}
	return all
}

// describeChoice says where a field is excluded.
func describeChoice(by, chosen string) string {
	if chosen == "" {
		return "without " + by
	}
	return fmt.Sprintf("where %s is %s", by, chosen)
}

func (u fieldUnion) excludeOthers(value map[string]any) []Exclusion {
	given := ""
	i := slices.IndexFunc(u.alternatives, func(group []string) bool {
		return slices.ContainsFunc(group, func(name string) bool {
			given = name
			return value[name] != nil && value[name] != "" && value[name] != Unknown
		})
	})
	if i < 0 {
		return nil
	}
	var all []Exclusion
	for j, group := range u.alternatives {
		for _, name := range group {
			if j != i {
				all = append(all, Exclusion{Path: []any{name}, Why: "beside " + given, IsKept: u.isKept})
			}
		}
	}
	return all
}

// Excluded returns the fields that an object of this type must not have, at any depth, by
// what it has.
func (t *Type) Excluded(object map[string]any) []Exclusion {
	var all []Exclusion
	t.addExclusions(object, nil, &all)
	return all
}

// addExclusions adds what the unions of a value, and of the values in it, exclude.
func (t *Type) addExclusions(value any, path []any, all *[]Exclusion) {
	switch v := value.(type) {
	case map[string]any:
		for _, x := range t.Excludes(v) {
			x.Path = append(slices.Clone(path), x.Path...)
			*all = append(*all, x)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if field, found := t.Field(name); found {
				field.addExclusions(v[name], append(path, name), all)
			}
		}
	case []any:
		for i, item := range v {
			t.Elem().addExclusions(item, append(path, i), all)
		}
	}
}

// policyTypes returns the default by which a NetworkPolicy says which of its rules count. It
// stays as it was when the policy was created, also where the rules change.
func policyTypes(spec map[string]any) any {
	types := []any{string(networkingv1.PolicyTypeIngress)}
	if egress, _ := spec["egress"].([]any); len(egress) > 0 {
		types = append(types, string(networkingv1.PolicyTypeEgress))
	}
	return types
}
