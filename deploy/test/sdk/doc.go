// Package sdk runs the official clients of provider-a and provider-b, unmodified, through the days
// of a merchant. It also runs the JOSE libraries in mle-filter's README. The server is any that
// offers the two dialects and v1 over HTTPS: the standalone, or an Envoy in front of the separate
// programs. See README.md.
package sdk
