// Package devcreds keeps one development merchant and its credentials in a file, so that every
// start on a data folder prints the same ones. They are for development on one machine, never for
// production.
package devcreds
