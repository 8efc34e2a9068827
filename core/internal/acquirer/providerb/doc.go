// Package providerb is the connector to a merchant's account at CyberSource, through its REST API.
//
// Each operation has a transactionId, which is derived from our reference. An operation without a
// response is undone by it: with a timeout reversal or a timeout void, a minute after it was sent.
// The package never sends the same operation twice.
//
// The pure parts are encode, from a command to a request, decode, from a response to an outcome,
// and the table of codes.
package providerb
