// Package card knows card numbers (PANs): whether one can be right, whose brand it is, and how long its number and its security code may be.
// It takes numbers as secrets and gives none back, so nothing of it can print one. It is pure: tables and arithmetic.
package card
