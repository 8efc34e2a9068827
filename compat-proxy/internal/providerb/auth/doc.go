// Package auth tells who asks at the provider-b door: by an HTTP signature, by a JWT of either generation, or by a v1 API key as bearer. It
// judges the bytes as they were received and knows nothing of payments.
package auth
