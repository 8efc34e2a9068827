// Package providera is the connector to a merchant's own Authorize.Net account, over its XML API.
//
// Our reference is the invoice number of a payment, a refund and an unlinked refund, so the account's
// lists can be searched for it. The merchant's own reference is in the description. Captures and
// voids change the original and have no number of their own: their outcome is the state of the
// original. Each request with a payment source also has the longest duplicate window, 28800 seconds.
//
// A request is sent at most once. Its outcome is unknown unless the response names it without a
// contradiction: an approval needs the number of a transaction and the echo of our reference. The
// connector finds the outcome of an earlier request in the account, and never concludes from a
// missing row that a request had no effect: the lists lag behind. So it never returns
// acquirer.ErrNotFound.
//
// The package has pure parts, in encode.go, decode.go and verdict.go, and the connector around them.
package providera
