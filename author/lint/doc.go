// Package lint finds what is wrong with a kind before it runs: everything that
// can be known without a cluster. Check gives the findings of one kind of an
// catalog.Catalog, sorted by place and without repetitions; each has a class
// with a stable name, a file:line:column, and as far as it is known how many
// characters to underline.
//
// What is about expressions comes of author/typecheck, which follows the templates
// with types. This package checks what those ways make: each literal or printed
// value against the child's field that it stands in, and against what Kubernetes
// refuses there beyond its schemas (field-type, invalid-child, nil), names and labels that can outgrow their limits
// (too-long), a Secret's value on its way out (secret), annotations (annotation,
// job-ttl), the status against the CRD (dropped-status), APIs that are gone
// (removed-api), replicas that an autoscaler writes too (contended), files that put what they
// write into themselves (oscillating). It also
// renders the examples and golden cases (example, golden), checks their children
// and what these say of each other (invalid-child), and finds fields of the spec,
// partials and rules of kind.yaml that nothing uses (unused-field, unused-partial,
// unused-rule). A kind that does not compile gives what the compiler says (syntax,
// braces). Dropped and Breaking compare with an earlier state: a kind of child that
// went and is not retired (dropped-kind), a CRD that no longer accepts, keeps or
// serves what it did (breaking-crd).
//
// Without it, users lose mistakes that the API server would report, or nobody.
package lint
