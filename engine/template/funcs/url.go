package funcs

import (
	"errors"
	"net/url"
)

var urlFuncs = map[string]any{
	"urlParse": urlParse,
	"urlJoin":  urlJoin,
	"urlquery": urlQuery,
}

func urlParse(s string) (map[string]any, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, wrapArgument(0, errors.New("is not a URL"))
	}
	return map[string]any{
		"scheme": u.Scheme, "userinfo": u.User.String(),
		"host": u.Host, "hostname": u.Hostname(),
		"path": u.Path, "query": u.RawQuery,
		"opaque": u.Opaque, "fragment": u.Fragment,
	}, nil
}

// urlJoin is the reverse of urlParse.
func urlJoin(m map[string]any) (string, error) {
	parts := map[string]string{}
	for _, key := range []string{"scheme", "host", "path", "query", "opaque", "fragment", "userinfo"} {
		text, ok := m[key].(string)
		if !ok && m[key] != nil {
			return "", wrapArgument(0, errors.New("has "+kindName(m[key])+" for "+key+", which must be a string"))
		}
		parts[key] = text
	}
	u := url.URL{
		Scheme: parts["scheme"], Host: parts["host"], Path: parts["path"],
		RawQuery: parts["query"], Opaque: parts["opaque"], Fragment: parts["fragment"],
	}
	if parts["userinfo"] != "" {
		with, err := url.Parse("proto://" + parts["userinfo"] + "@host")
		if err != nil {
			return "", wrapArgument(0, errors.New("has a userinfo that fits no URL"))
		}
		u.User = with.User
	}
	return u.String(), nil
}

// urlQuery escapes the text of its arguments for the query part of a URL.
func urlQuery(lim Limits, args ...some) (string, error) {
	text, err := printAll(lim, args...)
	if err != nil {
		return "", err
	}
	return url.QueryEscape(text), nil
}
