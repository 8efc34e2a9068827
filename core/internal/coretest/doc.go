// Package coretest has the helpers of core's tests. A transport checks every response against the
// contract. The test decides the responses of the acquirer. The service runs on a real store, and
// can be killed at any step. No binary imports the package.
package coretest
