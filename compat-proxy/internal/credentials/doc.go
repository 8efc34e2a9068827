// Package credentials maps the login of a legacy client to the API key for its calls.
//
// The mapping is a credentials file, which a person edits, and the folder of the same name with
// ".d" appended. The folder has one file for each login that the credentials commands write. A
// change replaces or removes one whole file, so that concurrent changes do not undo each other. The
// package reads the files again if one of them changes. A fault in an entry leaves the last valid
// version of that entry in force. All other entries apply, so that a revoked login ends.
package credentials
