package kit

import "strings"

// WebCRD is the CRD of a kind Web, whose spec may hold anything; GROUP stands
// for its API group.
const WebCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.GROUP}
spec:
  group: GROUP
  names: {kind: Web, plural: webs, singular: web}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
` + StatusFields

// ThingCRD is the CRD of a kind Thing in a group, whose spec has a text.
func ThingCRD(group string) string { return strings.ReplaceAll(thingCRD, "GROUP", group) }

const thingCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.GROUP}
spec:
  group: GROUP
  names: {kind: Thing, plural: things, singular: thing}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {text: {type: string, default: hello}}}
          status:
            type: object
            properties:
` + StatusFields

// StatusFields are the fields that the engine writes in a status, as the end of
// the CRD of a test's own kind.
const StatusFields = `              observedGeneration: {type: integer}
              childrenReady: {type: integer}
              childrenTotal: {type: integer}
              children: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status]
                  properties:
                    type: {type: string}
                    status: {type: string}
                    reason: {type: string}
                    message: {type: string}
                    lastTransitionTime: {type: string, format: date-time}
                    observedGeneration: {type: integer}
`
