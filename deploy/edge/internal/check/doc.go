// Package check rejects resources that Envoy would reject, before any of them is pushed. It
// validates the messages inside Any too, and follows every reference.
package check
