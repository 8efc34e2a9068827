// Package health says how a program is, to operators and what looks after it.
package health
