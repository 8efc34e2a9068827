// Package money reads and writes amounts: integers in the minor unit of an ISO 4217 currency. It
// uses no floating point.
package money
