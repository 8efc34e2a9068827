// Package health reports a program's health to operators and to their monitoring.
package health
