// Package credentials maps the way a legacy client logs in to the API key its calls are made with.
//
// The mapping is a credentials file, which a person edits, and the folder of the same name with ".d"
// appended. The folder has one file for each login that the credentials commands write. A change
// replaces or removes one whole file, so that changes made at once do not undo each other. Files are
// read again when one of them changes. A fault in one leaves the last good logins in force.
package credentials
