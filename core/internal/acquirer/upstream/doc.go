// Package upstream is the HTTP client with which a connector sends a request to its provider at
// most once. Its errors separate requests that certainly had no effect from requests that may have
// had one.
package upstream
