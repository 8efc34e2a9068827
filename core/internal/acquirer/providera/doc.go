// Package providera is the connector to a merchant's own Authorize.Net account, over its XML API.
//
// Our reference is the invoice number of a payment, a refund and an unlinked refund. The account's
// lists can be searched for it. The merchant's own reference is in the description. Captures and
// voids change their original and have no invoice number: their outcome is the state of the
// original. Each request with a payment source has the longest duplicate window, 28800 seconds.
//
// A request is sent at most once, except a void, because a second void of a transaction has no
// effect. The outcome of a request is unknown unless the response names it without a contradiction.
// An approval needs the number of a transaction and the echo of our reference.
//
// The connector finds the outcome of an earlier request in the account. The lists lag behind, so a
// missing row does not prove that a request had no effect. The connector returns
// acquirer.ErrNotFound only for a refund that cannot be made twice: that of a whole payment.
//
// The files encode.go, decode.go, details.go and verdict.go are pure. The others are the connector
// around them.
package providera
