// Package seal encrypts responses that show a secret once, so that the database does not contain
// the secret. Such a response is stored encrypted, so that a retry of the same request gets it
// again. A reader of the file without the request cannot decrypt it.
package seal
