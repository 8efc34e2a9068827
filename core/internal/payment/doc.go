// Package payment holds the types of the business and its rules. They are transactions, captures
// and refunds, how a transaction moves from status to status, and which steps are allowed. It is
// pure: no SQL, no HTTP, no clock.
//
// The store repeats the same conditions in its single-statement updates, because only there can
// they hold against a concurrent request. The functions here return why a step that did not happen
// was refused.
package payment
