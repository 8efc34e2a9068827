// Package backup copies a data folder and restores it. A backup is a folder of files with a
// manifest of their lengths and hashes. So a restore finds files that a disk or a transfer damaged.
package backup
