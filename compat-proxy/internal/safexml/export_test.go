package safexml

// Plain and Stream are the two ways to read a document that scan accepts. Plain returns nil for one
// that is not plain.
var (
	Plain  = readPlain
	Stream = stream
	Scan   = scan
)
