// Package credentials maps the way a legacy client logs in to the API key its calls are made with.
//
// The mapping is a file that a person edits. It is read again when it changes; a file that can not be read leaves the last good
// one in force.
package credentials
