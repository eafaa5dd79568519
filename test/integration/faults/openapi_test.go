package faults

import (
	"context"
	"encoding/json"

	"k8s.io/client-go/discovery"
)

// An openAPI is what the tests read of a schema that the API server publishes.
type openAPI struct {
	Ref        string                                  `json:"$ref"`
	AllOf      []*openAPI                              `json:"allOf"`
	Items      *openAPI                                `json:"items"`
	Properties map[string]*openAPI                     `json:"properties"`
	Enum       []any                                   `json:"enum"`
	ListType   string                                  `json:"x-kubernetes-list-type"`
	Kinds      []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// schemasAt returns the schemas of a group and version by their names; path is api/VERSION
// or apis/GROUP/VERSION.
func schemasAt(path string) (map[string]*openAPI, error) {
	client, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		return nil, err
	}
	text, err := client.RESTClient().Get().AbsPath("/openapi/v3/" + path).DoRaw(context.Background())
	if err != nil {
		return nil, err
	}
	var document struct {
		Components struct {
			Schemas map[string]*openAPI `json:"schemas"`
		} `json:"components"`
	}
	err = json.Unmarshal(text, &document)
	return document.Components.Schemas, err
}
