// Package clock provides the current time, so that a test can set it.
package clock
