// Package check refuses resources that Envoy would refuse or that lead nowhere, before any of them is pushed: validated inside Any too, every reference followed.
package check
