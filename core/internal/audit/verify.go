package audit

import (
	"bytes"
	"crypto/hmac"
	"errors"
	"fmt"
)

// ErrBroken reports that records were changed after they were written.
var ErrBroken = errors.New("the audit record was tampered with")

// Verifier checks a chain of records, from the oldest to the newest.
type Verifier struct {
	keys  [][]byte
	known *Head // a head that was logged; nil for none
	head  Head
	first *Record // the oldest record that is left
	purge *Head   // the newest record that the last purge removed
	met   bool    // known was reached
}

// NewVerifier returns a verifier. Each record must be signed by one of keys. known is a head from
// the log, which the chain must contain; nil checks the chain alone.
func NewVerifier(known *Head, keys ...[]byte) *Verifier { return &Verifier{keys: keys, known: known} }

// Add checks the next record. The error is ErrBroken with the reason.
func (v *Verifier) Add(r *Record) error {
	switch {
	case !v.signed(r):
		return fmt.Errorf("%w: record %d does not match its MAC", ErrBroken, r.Sequence)
	case v.first == nil:
		v.first = r
	case r.Sequence != v.head.Sequence+1:
		return fmt.Errorf("%w: record %d comes after record %d, so records are missing", ErrBroken, r.Sequence,
			v.head.Sequence)
	case !bytes.Equal(r.Previous, v.head.MAC):
		return fmt.Errorf("%w: record %d does not hold the MAC of record %d", ErrBroken, r.Sequence,
			v.head.Sequence)
	}
	v.head = Head{r.Sequence, r.MAC}
	if r.Action == Purged {
		through, err := ParseHead(r.Object)
		if err != nil {
			return fmt.Errorf("%w: record %d: %w", ErrBroken, r.Sequence, err)
		}
		v.purge = &through
	}
	if v.known != nil && v.known.Sequence == r.Sequence {
		if !bytes.Equal(v.known.MAC, r.MAC) {
			return fmt.Errorf("%w: record %d differs from the logged head", ErrBroken, r.Sequence)
		}
		v.met = true
	}
	return nil
}

// End checks the chain as a whole and returns its head. The error is ErrBroken with the reason.
func (v *Verifier) End() (Head, error) {
	if err := v.begins(); err != nil {
		return v.head, err
	}
	if v.known == nil || v.met {
		return v.head, nil
	}
	if v.first != nil && v.known.Sequence < v.first.Sequence {
		return v.head, nil // it was purged, which begins has checked
	}
	return v.head, fmt.Errorf("%w: the log has record %d, and the last stored record is %d", ErrBroken, v.known.Sequence,
		v.head.Sequence)
}

// begins checks that the chain begins with record 1, or after the records that a purge removed.
func (v *Verifier) begins() error {
	switch {
	case v.first == nil:
		return nil
	case v.first.Sequence == 1:
		if len(v.first.Previous) > 0 {
			return fmt.Errorf("%w: record 1 names a record before it", ErrBroken)
		}
		return nil
	case v.purge == nil || v.purge.Sequence != v.first.Sequence-1 || !bytes.Equal(v.purge.MAC, v.first.Previous):
		return fmt.Errorf("%w: the records before record %d are missing, and no purge removed them", ErrBroken,
			v.first.Sequence)
	}
	return nil
}

func (v *Verifier) signed(r *Record) bool {
	for _, key := range v.keys {
		if hmac.Equal(r.MAC, r.mac(key)) {
			return true
		}
	}
	return false
}
