package programtest

import "sync"

// Log collects the output of programs. The zero value keeps all of it. It is safe for concurrent
// use.
type Log struct {
	Most int // at least this many bytes of the end are kept; 0 keeps all

	mu   sync.Mutex
	text []byte // guarded by mu
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if l.Most > 0 && len(l.text) > 2*l.Most {
		l.text = append(l.text[:0], l.text[len(l.text)-l.Most:]...)
	}
	return len(p), nil
}

// String returns the kept text. A nil Log has none.
func (l *Log) String() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}
