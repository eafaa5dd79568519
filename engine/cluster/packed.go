package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A packed client lists and watches objects as live.Packed.
type packed struct{ rest.Interface }

func newPacked(cfg *rest.Config, httpClient *http.Client) (packed, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.GroupVersion, cfg.APIPath = &schema.GroupVersion{}, "/unused"
	cfg.NegotiatedSerializer, cfg.ContentType, cfg.AcceptContentTypes = packing{}, runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.RESTClientForConfigAndClient(cfg, httpClient)
	return packed{client}, err
}

func (p packed) get(gvr schema.GroupVersionResource, namespace string, opts metav1.ListOptions) *rest.Request {
	path := []string{"/apis", gvr.Group, gvr.Version}
	if gvr.Group == "" {
		path = []string{"/api", gvr.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	request := p.Get().AbsPath(append(path, gvr.Resource)...).SpecificallyVersionedParams(&opts, metav1.ParameterCodec, metav1.Unversioned)
	if opts.TimeoutSeconds != nil {
		request.Timeout(time.Duration(*opts.TimeoutSeconds) * time.Second)
	}
	return request
}

func (p packed) list(ctx context.Context, gvr schema.GroupVersionResource, namespace string,
	opts metav1.ListOptions) (runtime.Object, error) {
	result := p.get(gvr, namespace, opts).Do(ctx)
	if err := result.Error(); err != nil { // Raw has not read what the server says
		return nil, err
	}
	text, err := result.Raw()
	if err != nil {
		return nil, err
	}
	var said struct {
		metav1.TypeMeta
		metav1.ListMeta `json:"metadata"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := utiljson.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("reading a list of %s: %w", gvr.Resource, err)
	}
	if !strings.HasSuffix(said.Kind, "List") || said.ResourceVersion == "" {
		return nil, fmt.Errorf("reading a list of %s: the answer is no list, but of kind %q", gvr.Resource, said.Kind)
	}
	list := &internalversion.List{ListMeta: said.ListMeta}
	for _, item := range said.Items {
		o, err := live.Pack(item)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, o)
	}
	return list, nil
}

// watchPacked begins a watch whose objects are packed.
func (p packed) watchPacked(ctx context.Context, gvr schema.GroupVersionResource, namespace string,
	opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return p.get(gvr, namespace, opts).Watch(ctx)
}

// packing reads what a watch sends: objects, and why it ended.
type packing struct{}

var _ runtime.NegotiatedSerializer = packing{}

// SupportedMediaTypes is JSON alone.
func (packing) SupportedMediaTypes() []runtime.SerializerInfo {
	return []runtime.SerializerInfo{{
		MediaType: runtime.ContentTypeJSON, MediaTypeType: "application", MediaTypeSubType: "json", EncodesAsText: true, Serializer: packing{},
		StreamSerializer: &runtime.StreamSerializerInfo{EncodesAsText: true, Serializer: packing{}, Framer: serializer.Framer},
	}}
}

// EncoderForVersion encodes nothing: this client only reads.
func (packing) EncoderForVersion(e runtime.Encoder, _ runtime.GroupVersioner) runtime.Encoder {
	return e
}

// DecoderToVersion returns the decoder.
func (packing) DecoderToVersion(d runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return d
}

// Identifier is nothing: nothing is encoded.
func (packing) Identifier() runtime.Identifier { return "" }

// Encode encodes nothing.
func (packing) Encode(runtime.Object, io.Writer) error { return errors.New("this client only reads") }

// Decode reads an event of a watch, a Status, or an object.
func (packing) Decode(data []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, is := into.(*metav1.WatchEvent); is && splitEvent(data, event) {
		return into, &schema.GroupVersionKind{}, nil
	}
	if into != nil {
		return into, &schema.GroupVersionKind{}, utiljson.Unmarshal(data, into)
	}
	o, err := live.Pack(data)
	if err != nil {
		return nil, nil, err
	}
	gvk := o.GroupVersionKind()
	if gvk != metav1.Unversioned.WithKind("Status") {
		return o, &gvk, nil
	}
	status := &metav1.Status{}
	return status, &gvk, utiljson.Unmarshal(data, status)
}

// splitEvent reads an event as API servers write it, without looking into its object, which is
// decoded next and must be valid then. It reports whether it is written so.
func splitEvent(data []byte, into *metav1.WatchEvent) bool {
	others, begins := bytes.CutPrefix(data, []byte(`{"type":"`))
	kind, object, both := bytes.Cut(others, []byte(`","object":{`))
	object, ends := bytes.CutSuffix(bytes.TrimSpace(object), []byte("}"))
	if !begins || !both || !ends || bytes.ContainsAny(kind, `"\`) {
		return false
	}
	into.Type, into.Object.Raw = string(kind), append([]byte("{"), object...)
	return true
}
