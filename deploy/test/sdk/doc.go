// Package sdk runs the official clients of provider-a and provider-b, unmodified, through the days of a merchant, and the JOSE libraries of
// mle-filter's README, against whatever serves the two dialects and v1 by HTTPS: the standalone, or an Envoy in front of the single programs. See README.md.
package sdk
