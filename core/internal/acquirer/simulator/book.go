package simulator

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// Book is a memory that several processes share, in the place of a journal, so that whichever is asked is the one acquirer.
type Book interface {
	// Read returns what is known of a request; the zero Entry with its key when nobody named it.
	Read(ctx context.Context, key string) (Entry, error)
	// First writes down a request that nobody named before, and reports whether that is so.
	First(ctx context.Context, e Entry) (bool, error)
	// Change writes down what requests have become, all of it or none, and reports whether they were still as they were read.
	Change(ctx context.Context, changes ...Change) (bool, error)
}

// Entry is what a book knows of a request.
type Entry struct {
	Key    string
	Line   string // as in a journal; "" when only a void has named it
	Voided bool
}

// Change is what an entry was read as, and what it is to be.
type Change struct{ Was, Now Entry }

// bookTries is how often a request begins again because another one changed what it follows.
const bookTries = 16

func (k key) name() string { return hex.EncodeToString(k[:]) }

// record is what an entry says.
func (e Entry) record() (record, bool) {
	r := record{}
	if e.Line != "" {
		if known, ok := parseLine([]byte(e.Line)); ok {
			r = known.record
		}
	}
	r.voided = e.Voided
	return r, e.Line != "" || e.Voided
}

// entry is e as a book keeps it.
func (e effect) entry(voided bool) Entry {
	line := e.appendLine(nil)
	return Entry{Key: e.id.key().name(), Line: string(line[:len(line)-1]), Voided: voided}
}

// known is what is remembered of a request.
func (s *Simulator) known(ctx context.Context, k key) (record, error) {
	if s.book == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		r, _ := s.memory.get(k)
		return r, nil
	}
	e, err := s.book.Read(ctx, k.name())
	if err != nil {
		return record{}, lost(err)
	}
	r, _ := e.record()
	return r, nil
}

// share is commit where several processes remember together.
func (s *Simulator) share(ctx context.Context, e effect) (acquirer.Answer, error) {
	ctx = context.WithoutCancel(ctx) // a request that has arrived has its effect
	if e.authorization == "" {
		done, err := s.book.First(ctx, e.entry(false))
		if err != nil {
			return acquirer.Answer{}, lost(err)
		}
		if done {
			return e.record.answer(e.id), nil
		}
	}
	for range bookTries {
		answer, done, err := s.try(ctx, e)
		if err != nil || done {
			return answer, err
		}
	}
	return acquirer.Answer{}, fmt.Errorf("simulator: book: %w", acquirer.ErrUnknown)
}

// try reads, decides and writes. It is done unless somebody else wrote in between.
func (s *Simulator) try(ctx context.Context, e effect) (acquirer.Answer, bool, error) {
	was, err := s.book.Read(ctx, e.id.key().name())
	if err != nil {
		return acquirer.Answer{}, false, lost(err)
	}
	named := Entry{}
	if e.authorization != "" {
		if named, err = s.book.Read(ctx, digest(e.authorization).key().name()); err != nil {
			return acquirer.Answer{}, false, lost(err)
		}
	}
	own, _ := was.record()
	followed, known := named.record()
	if answer, ended, err := s.decide(&e, own, followed, known); ended || err != nil {
		return answer, true, err
	}
	changes := []Change{{was, e.entry(own.voided && e.record.verdict != approved)}}
	if e.voids() {
		now := named
		now.Voided = true
		changes = append(changes, Change{named, now})
	}
	done, err := s.book.Change(ctx, changes...)
	if err != nil {
		return acquirer.Answer{}, false, lost(err)
	}
	return e.record.answer(e.id), done, nil
}

// lost says that it is not known whether a request was written down.
func lost(err error) error { return fmt.Errorf("simulator: book: %w: %w", acquirer.ErrUnknown, err) }
