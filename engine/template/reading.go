package template

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
)

// callHasAPI implements the function hasAPI.
func callHasAPI(x *exec, _ pos, args []any) (any, error) {
	return x.world.HasAPI(args[0].(string), args[1].(string))
}

// callChild implements the function child.
func callChild(x *exec, _ pos, args []any) (any, error) {
	all, err := x.world.Children(args[0].(string))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return sealObject(all[0]), nil
}

// callChildren implements the function children.
func callChildren(x *exec, _ pos, args []any) (any, error) {
	all, err := x.world.Children(args[0].(string))
	if all == nil {
		all = []any{}
	}
	return sealObjects(all), err
}

// callAwait implements the function await.
func callAwait(x *exec, _ pos, args []any) (any, error) {
	name := args[0].(string)
	out := x.others.outcomeOf(x.ctx, name)
	var wait *Wait
	if errors.As(out.err, &wait) {
		return nil, &Wait{name + ": it waits itself"}
	}
	if out.err != nil {
		return nil, out.err
	}
	child, waits, err := x.world.Await(name, copyDocuments(out.docs))
	if err == nil && waits != "" {
		err = &Wait{name + ": " + waits}
	}
	if err != nil {
		return nil, err
	}
	return sealObject(child), nil
}

// copyDocuments copies documents whose objects are given away.
func copyDocuments(docs []*Document) []*Document {
	all := make([]*Document, len(docs))
	for i, d := range docs {
		one := *d
		one.Object = runtime.DeepCopyJSON(d.Object)
		all[i] = &one
	}
	return all
}

// callLookup reads one object, or nil if there is none.
func callLookup(x *exec, _ pos, args []any) (any, error) {
	what, err := x.objectOf(args[0], args[1], args[2])
	if err != nil {
		return nil, err
	}
	name, err := x.textArg("name", args[3])
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, errors.New("the name of the object is empty: ask for it within `if` or `with`")
	}
	if len(content.IsPathSegmentName(name)) > 0 {
		return nil, errors.New("no object can have this name")
	}
	what.Name = name
	found, err := x.world.Lookup(what)
	return sealObject(found), err
}

// selectObjects reads the objects that a selector matches.
func selectObjects(x *exec, _ pos, args []any) (any, error) {
	var namespace any
	if len(args) > 3 {
		namespace = args[3]
	}
	what, err := x.objectOf(args[0], args[1], namespace)
	if err != nil {
		return nil, err
	}
	plain, err := x.unsealedArg(args[2])
	if err != nil {
		return nil, err
	}
	selector, err := toSelector(plain)
	if err != nil {
		return nil, fmt.Errorf("the selector %w", err)
	}
	found, err := x.world.Select(what, selector)
	if found == nil {
		found = []any{}
	}
	return sealObjects(found), err
}

// objectOf returns what a read is about. Without a namespace it is that of the resource.
func (x *exec) objectOf(apiVersion, kind, namespace any) (Object, error) {
	what := Object{APIVersion: apiVersion.(string), Kind: kind.(string)}
	if namespace == nil {
		return what, nil
	}
	var err error
	if what.Namespace, err = x.textArg("namespace", namespace); err != nil {
		return what, err
	}
	if what.Namespace != "" && len(validation.IsDNS1123Label(what.Namespace)) > 0 {
		return what, errors.New("no namespace can have this name")
	}
	return what, nil
}

// unsealedArg returns an argument of a read, which may not be sealed.
func (x *exec) unsealedArg(v any) (any, error) {
	plain, err := x.toText(v)
	if x.taint != notSealed {
		return nil, errSealedQuestion
	}
	return plain, err
}

// textArg is an argument that must be a text; nothing is the empty one.
func (x *exec) textArg(what string, v any) (string, error) {
	plain, err := x.unsealedArg(v)
	if err != nil || plain == nil {
		return "", err
	}
	s, ok := plain.(string)
	if !ok {
		return "", fmt.Errorf("the %s must be a string, not %s", what, describeType(plain))
	}
	return s, nil
}

// callConfig implements the function config.
func callConfig(x *exec, _ pos, args []any) (any, error) { return x.world.Config(args[0].(string)) }

// callFile implements the function file.
func callFile(x *exec, _ pos, args []any) (any, error) { return x.set.texts[args[0].(string)], nil }

// callStable implements the function stable.
func callStable(x *exec, _ pos, args []any) (any, error) {
	text, err := x.world.Stable(args[0].(string), args[1].(string), int(args[2].(int64)))
	if err != nil {
		return nil, err
	}
	return sealValue(strings.ToValidUTF8(text, ""), sealedPart), nil
}
