package sqlitewal

import "errors"

// Result codes of SQLite. The lower 8 bits of an extended code are its primary code.
const (
	primary = 0xff

	busy     = 5
	locked   = 6
	noMemory = 7
	readOnly = 8
	ioError  = 10
	full     = 13
	cantOpen = 14

	constraintPrimaryKey = 1555
	constraintUnique     = 2067
)

// coded is an error of SQLite's driver.
type coded interface {
	error
	Code() int
}

// Duplicate reports whether a row was refused because one with its primary or unique key exists.
func Duplicate(err error) bool {
	var e coded
	return errors.As(err, &e) && (e.Code() == constraintUnique || e.Code() == constraintPrimaryKey)
}

// Unavailable reports whether the database could not be read or written just now: no space, an I/O
// error, or a lock of another process. A retry may succeed.
func Unavailable(err error) bool {
	var e coded
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & primary {
	case full, ioError, busy, locked, readOnly, cantOpen, noMemory:
		return true
	}
	return false
}
