// Package dropin holds the original paths of the legacy providers. A client that changes only its
// host name requests them. The programs in front of compat-proxy route them to it.
package dropin
