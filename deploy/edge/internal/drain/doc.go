// Package drain lets an Envoy finish its requests before its stop. Without it Envoy ends
// immediately, with requests in progress.
package drain
