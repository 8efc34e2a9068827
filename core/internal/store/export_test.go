package store

// MaxQueue is how many may.
const MaxQueue = maxQueue

// Closing reports whether the store takes no more commands.
func (db *DB) Closing() bool {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.closed
}

// Exec runs any statement as part of the command.
func (tx *Tx) Exec(text string, args ...any) error { return tx.w.exec(text, args...) }
