// Package backup is the form of a backup: a folder of files, and a manifest that says how long each is and what it hashes to, so that a
// restore notices what a disk or a transfer did to it. It knows nothing of what the files hold.
package backup
