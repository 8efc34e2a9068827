// Package pgurl is what programs of ours do alike with the URL of a PostgreSQL database.
package pgurl
