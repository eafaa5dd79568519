[[- define "conditions" ]]
              observedGeneration:
                description: The generation of the resource that this status is about.
                type: integer
                format: int64
              childrenReady:
                description: How many of the objects made for this resource are ready.
                type: integer
                format: int32
              childrenTotal:
                description: How many objects were made for this resource.
                type: integer
                format: int32
              children:
                description: The objects made for this resource, those that are not ready first; at most 100 of them.
                type: array
                x-kubernetes-list-type: atomic
                items:
                  type: object
                  required: [apiVersion, kind, name, ready]
                  properties:
                    apiVersion: {type: string}
                    kind: {type: string}
                    namespace: {type: string}
                    name: {type: string}
                    ready: {type: boolean}
                    message: {type: string}
              conditions:
                description: "How the resource stands: Ready always; Reconciling, Stalled and Paused only while true."
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status, lastTransitionTime, reason, message]
                  properties:
                    type: {type: string, maxLength: 316}
                    status: {type: string, enum: ["True", "False", Unknown]}
                    observedGeneration: {type: integer, format: int64, minimum: 0}
                    lastTransitionTime: {type: string, format: date-time}
                    reason: {type: string, minLength: 1, maxLength: 1024}
                    message: {type: string, maxLength: 32768}
[[- end ]]
[[- define "names" -]]
  group: [[ .Group ]]
  scope: Namespaced
  names:
    kind: [[ .Kind ]]
    listKind: [[ .Kind ]]List
    plural: [[ .Plural ]]
    singular: [[ .Singular ]]
    categories: [jacquard]
[[- end ]]
