// Package readiness judges whether a child is ready, from its object alone and the
// health entry of its kind, if there is one. Without an entry it builds on kstatus and
// adds what kstatus is too kind about: Jobs that still run, Services without their
// address, Routes that nobody admitted, workloads and custom resources that their
// controller has not looked at yet, and conditions that sum up an object under another
// name than Ready.
//
// All functions are pure. Messages are short and the same for the same state:
// no times, no values of the child's spec.
//
// Without it, users lose Ready, which would say that something was sent, not that it
// runs.
package readiness
