package template

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// toSelector reads a metav1.LabelSelector strictly: a mistake never selects
// more. Its errors follow "the selector " and hold no values.
func toSelector(v any) (labels.Selector, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf(`must be a map, as in (dict "matchLabels" (dict "tier" "web")), not %s`, describeType(v))
	}
	if err := onlyKeys(fields, "matchExpressions", "matchLabels"); err != nil {
		return nil, err
	}
	var s metav1.LabelSelector
	var err error
	if given, there := fields["matchLabels"]; there {
		if s.MatchLabels, err = textMap(given); err != nil {
			return nil, fmt.Errorf("has matchLabels that %w", err)
		}
	}
	if given, there := fields["matchExpressions"]; there {
		if s.MatchExpressions, err = parseExpressions(given); err != nil {
			return nil, err
		}
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return nil, errors.New("is empty and would select everything: name at least one label")
	}
	selector, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil { // which quotes the value
		return nil, errors.New("has a key or value that no label can have, or an operator without values or with too many")
	}
	return selector, nil
}

// onlyKeys refuses other keys. It names none: they may come out of values.
func onlyKeys(m map[string]any, known ...string) error {
	for _, key := range sortedKeys(m) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("has an unknown key%s (there are %v)", didYouMean(suggestName(key, known)), known)
		}
	}
	return nil
}

// parseExpressions reads matchExpressions.
func parseExpressions(v any) ([]metav1.LabelSelectorRequirement, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("has matchExpressions that must be a list, not %s", describeType(v))
	}
	var all []metav1.LabelSelectorRequirement
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("has matchExpressions whose items must be maps, not %s", describeType(item))
		}
		if err := onlyKeys(fields, "key", "operator", "values"); err != nil {
			return nil, err
		}
		key, isKey := fields["key"].(string)
		operator, isOperator := fields["operator"].(string)
		if !isKey || !isOperator {
			return nil, errors.New("has matchExpressions whose key and operator must be strings")
		}
		e := metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOperator(operator)}
		if given, there := fields["values"]; there {
			var err error
			if e.Values, err = textList(given); err != nil {
				return nil, fmt.Errorf("has values that %w", err)
			}
		}
		all = append(all, e)
	}
	return all, nil
}

func textMap(v any) (map[string]string, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("must be a map of strings, not %s", describeType(v))
	}
	texts := make(map[string]string, len(fields))
	for key, value := range fields {
		if texts[key], ok = value.(string); !ok {
			return nil, errors.New("must hold only strings: quote a number, and give what may be absent a default")
		}
	}
	return texts, nil
}

func textList(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("must be a list of strings, not %s", describeType(v))
	}
	texts := make([]string, len(list))
	for i, item := range list {
		if texts[i], ok = item.(string); !ok {
			return nil, errors.New("must hold only strings: quote a number, and give what may be absent a default")
		}
	}
	return texts, nil
}
