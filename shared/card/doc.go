// Package card validates card numbers (PANs) and security codes, finds a number's brand, and masks
// numbers in texts. It takes numbers as secrets and returns none, so nothing of it can print one.
// It is pure: tables and arithmetic.
package card
