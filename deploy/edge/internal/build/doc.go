// Package build converts the configuration and the certificates into Envoy's resources. It is pure.
// Each file makes one kind of resource.
package build
