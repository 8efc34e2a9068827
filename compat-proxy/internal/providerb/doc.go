// Package providerb translates the provider-b dialect: JSON over REST, as the provider's payments API has it. auth tells who asks, wire reads
// and writes the shapes; here is what they mean. Decoders and encoders are pure. Differences from the real thing are in DIVERGENCES.md.
package providerb
