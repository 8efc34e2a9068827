package command

import "time"

// MaxWindow is the longest deduplication window. V1 keeps keys for a day, which is longer than a
// period and a window together.
const MaxWindow = 8 * time.Hour

// Deduplication defines which requests are equal, and for how long after one of them an equal
// request is a duplicate. Of two equal requests only the first has an effect at v1. The result of
// the other is Repeated. The zero value excludes the request: it is never a duplicate, and has
// none. A Named command ignores it.
type Deduplication struct {
	// Window is the deduplication window in seconds, at most MaxWindow. With 0 the request is never a
	// duplicate, but later requests can be duplicates of it.
	Window int `json:"window,omitempty"`
	// Same are the fields that must be equal, besides the caller's merchant and mode, the kind of
	// command, its amount and its payment source.
	Same []string `json:"same,omitempty"`
}

// Duration returns the deduplication window.
func (o Deduplication) Duration() time.Duration {
	return min(max(time.Duration(o.Window)*time.Second, 0), MaxWindow)
}
