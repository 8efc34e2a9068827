// Package clock tells the time, so that everything else can be told the time in a test.
package clock
