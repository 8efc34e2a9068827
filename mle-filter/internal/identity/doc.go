// Package identity finds the merchant of a request. Only core can identify an API key: the package
// reads GET /v1/api_keys/current, and caches the response for 30 seconds at most.
package identity
