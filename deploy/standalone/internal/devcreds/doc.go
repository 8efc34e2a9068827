// Package devcreds keeps one development merchant and its credentials in a file, so that every start on one data folder prints the
// same ones. They are for one machine and for development; nothing here belongs into production.
package devcreds
