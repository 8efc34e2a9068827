// Package background is the work that a running core repeats. It removes expired rows, erases
// personal data, settles days that ended, sends broadcasts, and stores the state of the clock.
package background
