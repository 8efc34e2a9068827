// Package secretfile keeps one secret in one file of the data folder.
package secretfile
