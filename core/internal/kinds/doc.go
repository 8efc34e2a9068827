// Package kinds has the kinds of acquirers that core can connect to in live mode.
package kinds
