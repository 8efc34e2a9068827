// Package providerb implements the provider-b dialect: JSON over REST, like the provider's payments
// API. Package auth authenticates requests, package wire has the types of their JSON, and this
// package converts them. Decoders and encoders are pure. DIVERGENCES.md lists the differences from
// the provider.
package providerb
