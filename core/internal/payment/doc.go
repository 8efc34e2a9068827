// Package payment holds the words of the business and its rules: transactions, captures, refunds, how a transaction moves from
// status to status, and what may be captured, voided or refunded. It is pure: no SQL, no HTTP, no clock of its own.
//
// The store repeats the same conditions in its single-statement updates, because only there can they hold against a concurrent
// request; the functions here say why a step that did not happen was refused.
package payment
