// Package seal keeps out of the database what an answer showed once: an answer that holds a secret is stored encrypted, so that it can be
// given again to whoever sends the same request, and says nothing to whoever reads the file.
package seal
