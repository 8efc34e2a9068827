// Package build turns the configuration and the certificates into the resources of Envoy: pure, one file a kind.
package build
