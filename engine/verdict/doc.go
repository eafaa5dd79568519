// Package verdict decides whether what people see of Jacquard is healthy, unhealthy or
// unknown: in jacquard status, its exit code, the page, jacquard tree and the metrics. One
// table has every state of a kind, a resource, an object and an operator.
//
// Without it, users lose one answer to whether everything is healthy, in commands, on the page
// and in metrics.
package verdict
