// Package backup is the form of a backup: a folder of files, and a manifest with the length and the
// hash of each. So a restore notices files that a disk or a transfer damaged. The package does not
// read the content of the files.
package backup
