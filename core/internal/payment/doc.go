// Package payment holds the types of the business and its rules. They are transactions, captures
// and refunds, how a transaction moves from status to status, and which steps are allowed. It is
// pure: no SQL, no HTTP, no clock.
//
// The store repeats the same conditions in its single-statement updates, because only the store can
// enforce them against concurrent requests. The functions here return the reason of a refused step.
package payment
