package health_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/jacquard-operator/jacquard/engine/status/health"
)

// compileOne compiles an entry that is right.
func compileOne(t *testing.T, entry health.Entry) *health.Rule {
	t.Helper()
	if entry.APIVersion == "" {
		entry.APIVersion = "example.com/v1"
	}
	list, errs := health.CompileList([]health.Entry{entry})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return list[0]
}

// parseObject reads YAML with whole numbers as int64, as a cache has them.
func parseObject(t *testing.T, text string) map[string]any {
	t.Helper()
	obj := map[string]any{}
	if err := utilyaml.Unmarshal([]byte(text), &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

const (
	isReady  = `status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')`
	notReady = `status.conditions.exists(c, c.type == 'Ready' && c.status == 'False')`
)

func TestEvaluate(t *testing.T) {
	waits := func(message string) health.Result { return health.Result{State: health.InProgress, Message: message} }
	fails := func(message string) health.Result { return health.Result{State: health.Failed, Message: message} }
	current := health.Result{State: health.Current}
	for name, test := range map[string]struct {
		entry health.Entry
		obj   string
		want  health.Result
	}{
		"brand-new, has of a field":    {health.Entry{Current: "has(status.phase) && status.phase == 'Up'"}, "", waits("it has no status yet")},
		"brand-new, no guard":          {health.Entry{Current: isReady, Failed: notReady}, "", waits("it has no status yet")},
		"null status":                  {health.Entry{Current: isReady, Failed: notReady}, "status:", waits("it has no status yet")},
		"absent spec":                  {health.Entry{Current: "!has(spec.paused) && !has(metadata.x) && !has(data.y)"}, "", current},
		"current":                      {health.Entry{Current: isReady}, "status: {conditions: [{type: Ready, status: 'True'}]}", current},
		"failed before current":        {health.Entry{Current: "true || true", Failed: "true"}, "status: {message: broken}", fails("broken")},
		"failed, without a message":    {health.Entry{Current: "true", Failed: "status.x == 1"}, "status: {x: 1}", fails("its health expression failed is true")},
		"inProgress, without one":      {health.Entry{Current: "true", InProgress: "status.x == 1"}, "status: {x: 1}", waits("its health expression inProgress is true")},
		"failed, without a status":     {health.Entry{Current: "true", Failed: "spec.x == 1"}, "spec: {x: 1}", fails("its health expression failed is true")},
		"inProgress before failed":     {health.Entry{Current: "true", Failed: "true", InProgress: "true"}, "status: {phase: Paused}", waits("phase Paused")},
		"none":                         {health.Entry{Current: isReady, Failed: "false"}, "status: {conditions: []}", waits("its health expression current is not true yet")},
		"an older generation":          {health.Entry{Current: "1 == 1"}, "metadata: {generation: 2}\nstatus: {observedGeneration: 1}", waits("its controller has not observed the latest change yet")},
		"a newer generation":           {health.Entry{Current: "1 == 1"}, "metadata: {generation: 2}\nstatus: {observedGeneration: 3}", waits("its controller has not observed the latest change yet")},
		"the same generation":          {health.Entry{Current: "1 == 1"}, "metadata: {generation: 2}\nstatus: {observedGeneration: 2}", current},
		"an older generation, text":    {health.Entry{Current: "1 == 1"}, "metadata: {generation: 2}\nstatus: {observedGeneration: '1'}", waits("its controller has not observed the latest change yet")},
		"the same generation, text":    {health.Entry{Current: "1 == 1"}, "metadata: {generation: 2}\nstatus: {observedGeneration: '2'}", current},
		"a hash for a generation":      {health.Entry{Current: "1 == 1"}, "metadata: {generation: 2}\nstatus: {observedGeneration: 7f9c}", current},
		"minus one":                    {health.Entry{Current: "1 == 1"}, "metadata: {generation: 2}\nstatus: {observedGeneration: -1}", waits("its controller has not observed the latest change yet")},
		"minus one, existence":         {health.Entry{Current: "true"}, "metadata: {generation: 2}\nstatus: {observedGeneration: -1}", current},
		"existence, in blanks":         {health.Entry{Current: " true\n"}, "metadata: {generation: 2}\nstatus: {observedGeneration: 1}", current},
		"existence, but failed":        {health.Entry{Current: "true", Failed: notReady}, "status: {conditions: [{type: Ready, status: 'False', message: broken}]}", fails("broken")},
		"a key that is not there":      {health.Entry{Current: "status.phase == 'Up'"}, "status: {x: 1}", waits("its health expression current cannot be evaluated: no such key: phase")},
		"a top-level field, absent":    {health.Entry{Current: "stauts.phase == 'Up'"}, "status: {x: 1}", waits("its health expression current cannot be evaluated: no such attribute(s): stauts")},
		"a top-level field, there":     {health.Entry{Current: "has(operation.sync)"}, "operation: {sync: {}}", current},
		"an error of failed":           {health.Entry{Current: "true", Failed: "status.a.b"}, "status: {x: 1}", waits("its health expression failed cannot be evaluated: no such key: a")},
		"no bool":                      {health.Entry{Current: "status.x"}, "status: {x: 1}", waits("its health expression current cannot be evaluated: it is a int, not a bool")},
		"a value in an error":          {health.Entry{Current: "int(status.x) > 1"}, "status: {x: hush}", waits("its health expression current cannot be evaluated: a value is not of the type that it expects")},
		"conditions without status":    {health.Entry{Current: isReady}, "status: {conditions: [{type: Ready}]}", waits("its health expression current cannot be evaluated: no such key: status")},
		"too costly":                   {health.Entry{Current: "status.l.all(a, status.l.all(b, status.l.all(c, a + b + c > 0)))"}, "status: {l: [" + strings.Repeat("1,", 100) + "]}", waits("its health expression current cannot be evaluated: operation cancelled: actual cost limit exceeded")},
		"a text that grows":            {health.Entry{Current: "status.s" + strings.Repeat(".replace('a', 'aaaaaaaaaa')", 12) + " == ''"}, "status: {s: a}", waits("its health expression current cannot be evaluated: operation cancelled: actual cost limit exceeded")},
		"numbers of two types":         {health.Entry{Current: "status.size > 1.5 && status.size == 2.0"}, "status: {size: 2}", current},
		"optionals":                    {health.Entry{Current: "status.?conditions.orValue([]).size() == 0"}, "", current},
		"message":                      {health.Entry{Current: isReady, Message: "'size ' + string(spec.size)"}, "spec: {size: 3}\nstatus: {conditions: []}", waits("size 3")},
		"an empty message":             {health.Entry{Current: isReady, Message: "status.text"}, "status: {conditions: [], text: '', phase: Up}", waits("phase Up")},
		"a message that has an error":  {health.Entry{Current: isReady, Message: "status.text"}, "status: {conditions: [], reason: Slow, phase: Up}", waits("Slow")},
		"no message while behind":      {health.Entry{Current: isReady, Message: "'x'"}, "metadata: {generation: 2}\nstatus: {observedGeneration: 1}", waits("its controller has not observed the latest change yet")},
		"the condition Stalled":        {health.Entry{Current: "false"}, "status: {message: m, conditions: [{type: Ready, status: 'False', message: r}, {type: Stalled, status: 'True', message: s}]}", waits("s")},
		"a condition, not Stalled":     {health.Entry{Current: "false"}, "status: {message: m, conditions: [{type: Stalled, status: 'False', message: s}, {type: Synced, status: Unknown, message: slow}]}", waits("slow")},
		"a condition without message":  {health.Entry{Current: "false"}, "status: {conditions: [{type: Available, status: 'False', reason: Slow}]}", waits("Available=False: Slow")},
		"a condition without a reason": {health.Entry{Current: "false"}, "status: {conditions: [{type: Succeeded, status: Unknown}]}", waits("Succeeded=Unknown")},
		"status is no map":             {health.Entry{Current: "has(status.x)"}, "status: up", waits("it has no status yet")},
	} {
		t.Run(name, func(t *testing.T) {
			obj := parseObject(t, test.obj)
			if diff := cmp.Diff(test.want, compileOne(t, test.entry).Evaluate(obj)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(parseObject(t, test.obj), obj); diff != "" {
				t.Errorf("the object changed:\n%s", diff)
			}
		})
	}
}

// TestCompileRefuses: what no object can have, and what no expression can be, is
// reported with its field and place.
func TestCompileRefuses(t *testing.T) {
	const forms = `it must be GROUP/VERSION, such as example.com/v1, or v1 for the core group, or *.SUFFIX/* for every group with that suffix; ` +
		`an entry without a kind is for all kinds of the group`
	for name, test := range map[string]struct {
		entry health.Entry
		want  string // FIELD OFFSET: MESSAGE
	}{
		"no apiVersion":           {health.Entry{Current: "true"}, "apiVersion 0: it is missing: " + forms},
		"a wildcard for versions": {health.Entry{APIVersion: "a.b/*", Current: "true"}, "apiVersion 0: " + forms},
		"a wildcard for a prefix": {health.Entry{APIVersion: "a.*/v1", Current: "true"}, "apiVersion 0: " + forms},
		"a wildcard and version":  {health.Entry{APIVersion: "*.b/v1", Current: "true"}, "apiVersion 0: " + forms},
		"all groups":              {health.Entry{APIVersion: "*/*", Current: "true"}, "apiVersion 0: " + forms},
		"no version":              {health.Entry{APIVersion: "a.b/", Current: "true"}, "apiVersion 0: " + forms},
		"a group alone":           {health.Entry{APIVersion: "a.b", Current: "true"}, "apiVersion 0: " + forms},
		"a kind for a version":    {health.Entry{APIVersion: "Pod", Current: "true"}, "apiVersion 0: " + forms},
		"a wildcard for kinds":    {health.Entry{APIVersion: "a.b/v1", Kind: "*", Current: "true"}, `kind 0: it must be a kind, such as Deployment; without a kind the entry is for all kinds of the group`},
		"Secrets":                 {health.Entry{APIVersion: "v1", Kind: "Secret", Current: "true"}, "kind 0: the values of a Secret are not read, so that it cannot have an entry: it is ready once it exists"},
		"no current":              {health.Entry{APIVersion: "a.b/v1", Failed: "true"}, "current 0: it is missing: it is the expression that is true once the object is ready"},
		"no CEL":                  {health.Entry{APIVersion: "a.b/v1", Current: "a &&\n b &&"}, "current 10: Syntax error: mismatched input '<EOF>'"},
		"an unknown function":     {health.Entry{APIVersion: "a.b/v1", Current: "status.x.startWith('a')"}, "current 18: there is no function startWith; did you mean startsWith?"},
		"a text for a bool":       {health.Entry{APIVersion: "a.b/v1", Current: "'a' + 'b'"}, "current 0: the expression is a string, not a bool"},
		"a bool for a text":       {health.Entry{APIVersion: "a.b/v1", Current: "true", Message: "1 == 1"}, "message 0: the expression is a bool, not a string"},
		"self":                    {health.Entry{APIVersion: "a.b/v1", Current: "true && self.status.x"}, "current 8: there is no self: the top-level fields of the object are variables, such as status.phase"},
		"object":                  {health.Entry{APIVersion: "a.b/v1", Current: "has(object.status)"}, "current 4: there is no object: the top-level fields of the object are variables, such as status.phase"},
		"has(status)":             {health.Entry{APIVersion: "a.b/v1", Current: "has(status)"}, "current 4: has needs a field of a map, such as has(status.conditions)"},
		"too long":                {health.Entry{APIVersion: "a.b/v1", Current: strings.Repeat(" ", 9000) + "true"}, "current 0: the expression is longer than 8192 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			list, errs := health.CompileList([]health.Entry{{APIVersion: "good.example.com/v1", Current: "true"}, test.entry})
			if len(list) != 1 || len(errs) != 1 || errs[0].Index != 1 {
				t.Fatalf("%v, %v", list, errs)
			}
			got := strings.TrimPrefix(errs[0].Error(), "healthCheckExprs[1]."+errs[0].Field+": ")
			field, message, _ := strings.Cut(test.want, ": ")
			if at := fmt.Sprint(errs[0].Field, " ", errs[0].Offset); at != field || got != message {
				t.Errorf("got %s: %s, want %s", at, got, test.want)
			}
		})
	}
}

func TestCompileRefusesDuplicates(t *testing.T) {
	list, errs := health.CompileList([]health.Entry{
		{APIVersion: "a.b/v1", Kind: "X", Current: "true"}, {APIVersion: "a.b/v1", Current: "true"}, {APIVersion: "a.b/v2", Kind: "X", Current: "true"},
	})
	want := "healthCheckExprs[2].apiVersion: healthCheckExprs[0] is for a.b/X already: remove one of them, since versions are ignored"
	if len(list) != 2 || len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("%v, %v", list, errs)
	}
}

// TestFind: the folder wins over the root and the root over what is built in; in each,
// the exact kind over the group, and that over a wildcard.
func TestFind(t *testing.T) {
	list := func(kinds ...string) health.List {
		entries := make([]health.Entry, len(kinds))
		for i, kind := range kinds {
			apiVersion, name, _ := strings.Cut(kind, " ")
			entries[i] = health.Entry{APIVersion: apiVersion, Kind: name, Current: "1 == 1"}
		}
		compiled, errs := health.CompileList(entries)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		return compiled
	}
	thing := schema.GroupKind{Group: "s3.aws.example.com", Kind: "Thing"}
	for name, test := range map[string]struct {
		set      *health.Set
		gk       schema.GroupKind
		found    string
		authored bool
	}{
		"nothing":             {health.NewSet(nil, nil), thing, "", false},
		"no set":              {nil, thing, "", false},
		"another version":     {health.NewSet(list("s3.aws.example.com/v7 Thing"), nil), thing, "s3.aws.example.com/Thing", true},
		"another group":       {health.NewSet(list("aws.example.com/v1 Thing", "aws.example.com/v1"), nil), thing, "", false},
		"kind before group":   {health.NewSet(list("s3.aws.example.com/v1", "s3.aws.example.com/v1 Thing"), nil), thing, "s3.aws.example.com/Thing", true},
		"group":               {health.NewSet(list("s3.aws.example.com/v1", "s3.aws.example.com/v1 Other"), nil), thing, "s3.aws.example.com/*", true},
		"group before suffix": {health.NewSet(list("*.aws.example.com/* Thing", "s3.aws.example.com/v1"), nil), thing, "s3.aws.example.com/*", true},
		"longer suffix":       {health.NewSet(list("*.example.com/* Thing", "*.aws.example.com/*"), nil), thing, "*.aws.example.com/*", true},
		"suffix with a kind":  {health.NewSet(list("*.example.com/*", "*.example.com/* Thing"), nil), thing, "*.example.com/Thing", true},
		"no whole suffix":     {health.NewSet(list("*.3.aws.example.com/*", "*.s3.aws.example.com/*"), nil), thing, "", false},
		"root":                {health.NewSet(list("other.example.com/v1"), list("*.example.com/*")), thing, "*.example.com/*", true},
		"folder before root":  {health.NewSet(list("*.example.com/*"), list("s3.aws.example.com/v1 Thing")), thing, "*.example.com/*", true},
		"core, a beta":        {health.NewSet(list("v2beta1 ConfigMap"), nil), schema.GroupKind{Kind: "ConfigMap"}, "ConfigMap", true},
		"core group":          {health.NewSet(list("v1 ConfigMap"), nil), schema.GroupKind{Kind: "ConfigMap"}, "ConfigMap", true},
		"whole core group":    {health.NewSet(list("v1"), nil), schema.GroupKind{Kind: "Pod"}, "*", true},
		"never a Secret":      {health.NewSet(list("v1"), nil), schema.GroupKind{Kind: "Secret"}, "", false},
		"built in":            {nil, schema.GroupKind{Group: "s3.services.k8s.aws", Kind: "Bucket"}, "*.services.k8s.aws/*", false},
		"over what is built in": {health.NewSet(nil, list("*.k8s.aws/*")), schema.GroupKind{Group: "s3.services.k8s.aws", Kind: "Bucket"},
			"*.k8s.aws/*", true},
	} {
		t.Run(name, func(t *testing.T) {
			found, authored := "", test.set.FindAuthored(test.gk) != nil
			if rule := test.set.Find(test.gk); rule != nil {
				found = rule.String()
			}
			if found != test.found || authored != test.authored {
				t.Errorf("found %q, by an author: %v; want %q, %v", found, authored, test.found, test.authored)
			}
		})
	}
	kinds := list("a.example.com/v1", "b.example.com/v1", "*.example.com/* Thing")
	if got := kinds.Select([]schema.GroupKind{thing, {Group: "b.example.com", Kind: "X"}}); len(got) != 2 || got[0] != kinds[1] || got[1] != kinds[2] {
		t.Errorf("selected %v", got)
	}
}

// TestNeed checks which fields an entry needs besides those that a message is taken from.
func TestNeed(t *testing.T) {
	const always = "status.conditions status.message status.observedGeneration status.phase status.reason"
	for name, test := range map[string]struct {
		entry health.Entry
		want  string
	}{
		"existence":       {health.Entry{Current: "true"}, always},
		"a message type":  {health.Entry{Current: "google.protobuf.StringValue{value: status.word} == 'x'"}, "status.word"},
		"optMap":          {health.Entry{Current: "status.?a.optMap(x, x.b == spec.c).orValue(false)"}, "spec.c status.a"},
		"in lists":        {health.Entry{Current: "[status.a, spec.b].exists(x, x.y == 'z')"}, "spec.b status.a"},
		"a condition":     {health.Entry{Current: "(status.a ? spec.b : data).c == 'z'"}, "data spec.b status.a"},
		"all metadata":    {health.Entry{Current: "size(metadata) > 1"}, "the whole object"},
		"fields":          {health.Entry{Current: "has(spec.paused) && spec.x.y == status.sync.status", Failed: "data['a.b/c'] == ''"}, "data.a.b/c spec.paused spec.x.y status.sync.status"},
		"all of status":   {health.Entry{Current: "size(status) > 0 && status.x == 1"}, "status"},
		"items":           {health.Entry{Current: "status.parents.exists(p, p.conditions.all(c, c.type == 'A' && spec.y))"}, "spec.y status.parents"},
		"an item":         {health.Entry{Current: "status.parents[0].x == 1"}, "status.parents"},
		"a computed key":  {health.Entry{Current: "status.parents[spec.key].x == 1"}, "spec.key status.parents"},
		"optionals":       {health.Entry{Current: "status.?a.?b.orValue('') == status[?'c'].orValue('')"}, "status.a.b status.c"},
		"functions":       {health.Entry{Current: "optional.of(status.a).hasValue() && sets.contains(status.l, [spec.m]) && type(status.t) == int && dyn(data.d)"}, "data.d spec.m status.a status.l status.t"},
		"map, in a map":   {health.Entry{Current: "{'a': status.a}.a == [spec.b][0]"}, "spec.b status.a"},
		"a name twice":    {health.Entry{Current: "status.l.exists(spec, spec.a == 1) && spec.b == 1"}, "spec.b status.l"},
		"another field":   {health.Entry{Current: "operation.x.y == 'z'"}, "operation.x.y"},
		"message":         {health.Entry{Current: "true", Message: "status.validationMessages[0].type.name"}, "status.validationMessages"},
		"of annotations":  {health.Entry{Current: "metadata.annotations['a.b/c'] == 'd'"}, "metadata.annotations.a.b/c"},
		"has on an index": {health.Entry{Current: "has(status.l[0].x)"}, "status.l"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for text := range strings.SplitSeq(compileOne(t, test.entry).Need().String(), ", ") {
				if !strings.Contains(" "+always+" ", " "+text+" ") || strings.Contains(" "+test.want+" ", " "+text+" ") {
					got = append(got, text)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %q, want %q", strings.Join(got, " "), test.want)
			}
		})
	}
}

// TestReads: lint looks up every path that an expression reads in the schema, also
// those of the items of a list.
func TestReads(t *testing.T) {
	texts := map[string]string{
		"current": "status.?conditions.orValue([]).filter(c, c.type == 'Ready').all(d, d.status == 'True')",
		"failed":  "status.parents[0].conditions.exists(c, c.reason) && size(spec.list) > 0 && has(spec.a.b) && spec['c'].d",
	}
	rule := compileOne(t, health.Entry{Current: texts["current"], Failed: texts["failed"]})
	var got []string
	for _, read := range rule.Reads() {
		got = append(got, read.Field+" "+read.Path.String())
		if name := read.Path[len(read.Path)-1]; !strings.HasPrefix(texts[read.Field][read.Offset:], name) {
			t.Errorf("at %d of %s stands no %s", read.Offset, read.Field, name)
		}
	}
	want := []string{
		"current status.conditions", "current status.conditions[].type", "current status.conditions[].status",
		"failed status.parents[].conditions", "failed status.parents[].conditions[].reason", "failed spec.list", "failed spec.a.b", "failed spec.c.d",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEmptyAlls: filter(…).all(…) is true for an object that has no conditions.
func TestEmptyAlls(t *testing.T) {
	const all = "status.conditions.filter(c, c.type == 'Ready').all(c, c.status == 'True')"
	for text, want := range map[string]int{
		all:                                      1,
		"has(status.conditions) && " + all:       1,
		all + " || " + all:                       2,
		"status.conditions.size() > 0 && " + all: 0,
		"size(status.conditions) > 0 && " + all:  0,
		"status.conditions.exists(c, c.type == 'Ready') && " + all:      0,
		"status.conditions.all(c, c.status == 'True')":                  0,
		"status.conditions.filter(c, c.type == 'Ready').exists(c, c.x)": 0,
	} {
		if got := compileOne(t, health.Entry{Current: text}).EmptyAlls(); len(got) != want {
			t.Errorf("%s: %v, want %d", text, got, want)
		}
	}
}
