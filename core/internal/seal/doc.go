// Package seal keeps secrets that a response shows once out of the database. Such a response is
// stored encrypted, so that a retry of the same request gets it again. A reader of the file without
// the request cannot decrypt it.
package seal
