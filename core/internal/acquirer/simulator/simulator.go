package simulator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Config is what Open needs.
type Config struct {
	// Catalogue is the YAML text of the catalogue; nil means the embedded one.
	Catalogue []byte
	// Journal is the path of the file that outlives the process. Several processes of one machine may
	// share it: they are then one acquirer. "" keeps the recording in memory, for unit tests.
	Journal string
	// Clock sets the times of authorizations and test cards, and decides which cards have expired; nil
	// means the machine's.
	Clock clock.Clock
}

// Simulator is the acquirer of test mode. It is safe for concurrent use.
type Simulator struct {
	catalogue *catalogue
	clock     clock.Clock
	delays    *delays

	mu      sync.Mutex // guards the fields below, and serializes the effects
	memory  *memory
	journal *journal // nil without one
	closed  bool
}

var errClosed = errors.New("closed")

var _ acquirer.Acquirer = (*Simulator)(nil)

// ErrCatalogue reports that a catalogue has mistakes.
var ErrCatalogue = errors.New("catalogue")

// Open loads the catalogue and the journal. For a catalogue with mistakes it returns an error that
// names every wrong entry. It skips unreadable journal lines, because a crash may leave them.
func Open(cfg Config) (*Simulator, error) {
	return open(cfg, limits{generation: generationSize, segment: segmentSize})
}

// limits bound the memory.
type limits struct {
	generation int   // references in one generation of the memory
	segment    int64 // bytes in one file of the journal
}

// embeddedCatalogue reads the embedded text once: that takes milliseconds, and no simulator changes
// its catalogue.
var embeddedCatalogue = sync.OnceValues(func() (*catalogue, error) { return loadCatalogue(embedded) })

func open(cfg Config, l limits) (*Simulator, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	load := embeddedCatalogue
	if cfg.Catalogue != nil {
		load = func() (*catalogue, error) { return loadCatalogue(cfg.Catalogue) }
	}
	cat, err := load()
	if err != nil {
		return nil, fmt.Errorf("simulator: %w: %w", ErrCatalogue, err)
	}
	s := &Simulator{catalogue: cat, clock: cfg.Clock, memory: newMemory(l.generation), delays: newDelays()}
	if cfg.Journal == "" {
		return s, nil
	}
	s.journal, err = openJournal(cfg.Journal, l, s.memory)
	if err != nil {
		return nil, fmt.Errorf("simulator: journal: %w", err)
	}
	return s, nil
}

// Close closes the journal. Later requests are refused with acquirer.ErrUnavailable.
func (s *Simulator) Close() error {
	s.delays.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.journal == nil {
		return nil
	}
	if err := s.journal.close(); err != nil {
		return fmt.Errorf("simulator: journal: %w", err)
	}
	return nil
}

// Authorize implements acquirer.Acquirer by the rules of the catalogue. It checks the outcome of
// the card, its expiry, the CVC and the postal code, in this order. The first rule that decides
// counts.
func (s *Simulator) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	return s.disturb(ctx, "authorize", func(ctx context.Context, late bool) (acquirer.Response, error) {
		return s.authorize(ctx, r, late)
	})
}

func (s *Simulator) authorize(ctx context.Context, r acquirer.Authorize, late bool) (acquirer.Response, error) {
	id, err := identify(r.Reference)
	if err != nil {
		return acquirer.Response{}, err
	}
	card := s.catalogue.cards[asCard(r.Source).Number.Reveal()]
	if response, ok, err := s.recall(id, authorize, card); ok || err != nil {
		return response, err // a retry neither waits nor fails again
	}
	if err := card.hold(ctx); err != nil {
		return acquirer.Response{}, err
	}
	response, err := s.commit(effect{id: id, reference: r.Reference, late: late, record: s.judge(r, card)})
	if err == nil && card.loses() {
		wait(ctx, card.delay)
		return acquirer.Response{}, fmt.Errorf("simulator: authorize: %w", acquirer.ErrUnknown)
	}
	return response, err
}

// Prepare implements acquirer.Acquirer: the reference is all that the simulator needs.
func (*Simulator) Prepare(context.Context) (string, error) { return "", nil }

// Capture implements acquirer.Acquirer.
func (s *Simulator) Capture(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return s.disturb(ctx, "capture", func(ctx context.Context, late bool) (acquirer.Response, error) {
		return s.follow(ctx, capture, r, late)
	})
}

// Void implements acquirer.Acquirer.
func (s *Simulator) Void(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return s.disturb(ctx, "void", func(ctx context.Context, late bool) (acquirer.Response, error) {
		return s.follow(ctx, void, r, late)
	})
}

// Refund implements acquirer.Acquirer.
func (s *Simulator) Refund(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return s.disturb(ctx, "refund", func(ctx context.Context, late bool) (acquirer.Response, error) {
		return s.follow(ctx, refund, r, late)
	})
}

// Inquire implements acquirer.Acquirer. A request that was voided before it arrived, or whose
// effect is late, is not found until it arrives.
func (s *Simulator) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	return s.disturb(ctx, "inquire", func(ctx context.Context, _ bool) (acquirer.Response, error) {
		return s.inquire(ctx, about.Reference)
	})
}

func (s *Simulator) inquire(ctx context.Context, reference string) (acquirer.Response, error) {
	if err := live(ctx); err != nil {
		return acquirer.Response{}, err
	}
	id := digest(reference)
	rec, err := s.known(id.key())
	if err != nil {
		return acquirer.Response{}, err
	}
	if rec.kind == none || s.underway(rec) {
		return acquirer.Response{}, fmt.Errorf("simulator: inquire: %w", acquirer.ErrNotFound)
	}
	response := rec.response(id)
	response.Released = response.Approved && rec.voided
	return response, nil
}

// underway reports whether a late request has not arrived yet. Until then it is not found.
func (s *Simulator) underway(r record) bool {
	return r.arrives != 0 && s.clock.Now().UnixMilli() < r.arrives
}

func (s *Simulator) follow(ctx context.Context, k kind, r acquirer.Follow, late bool) (acquirer.Response, error) {
	if err := live(ctx); err != nil {
		return acquirer.Response{}, err
	}
	id, err := identify(r.Reference)
	if err != nil {
		return acquirer.Response{}, err
	}
	if _, err := identify(r.Original.Reference); err != nil {
		return acquirer.Response{}, err
	}
	rec := record{
		kind: k, amount: r.Amount, verdict: s.catalogue.refusals[step{k, r.Amount}], final: k == capture && r.Final,
	}
	return s.commit(effect{id: id, reference: r.Reference, authorization: r.Original.Reference, late: late, record: rec})
}

// recall returns the earlier response to a request of a kind. If the card responds immediately,
// commit finds it.
func (s *Simulator) recall(id identity, k kind, c card) (acquirer.Response, bool, error) {
	if c.behaviour == respondsAtOnce {
		return acquirer.Response{}, false, nil
	}
	rec, err := s.known(id.key())
	if err != nil || rec.kind != k || s.underway(rec) {
		return acquirer.Response{}, false, err
	}
	return rec.response(id), true, nil
}

// known returns the record of a request, the zero record if there is none.
func (s *Simulator) known(k key) (record, error) {
	if err := s.lock(); err != nil {
		return record{}, err
	}
	defer s.unlock()
	r, _ := s.memory.get(k)
	return r, nil
}

// lock returns with the effects of all processes in memory. No process adds one until unlock.
func (s *Simulator) lock() error {
	s.mu.Lock()
	var err error
	if s.closed {
		err = errClosed
	} else if s.journal != nil {
		err = s.journal.lock()
	}
	if err != nil {
		s.mu.Unlock()
		return fmt.Errorf("simulator: journal: %w: %w", acquirer.ErrUnavailable, err)
	}
	return nil
}

func (s *Simulator) unlock() {
	if s.journal != nil {
		s.journal.unlock()
	}
	s.mu.Unlock()
}

// effect is a request that is about to take effect, with its response unless an earlier request
// decides otherwise.
type effect struct {
	id            identity
	reference     string
	authorization string // empty for an authorization itself
	late          bool   // an earlier void does not stop it
	record        record
}

// commit carries out the effect once. For a repeated reference it repeats the response. Otherwise
// it writes the journal before it responds.
func (s *Simulator) commit(e effect) (acquirer.Response, error) {
	if err := s.lock(); err != nil {
		return acquirer.Response{}, err
	}
	defer s.unlock()
	own, _ := s.memory.get(e.id.key())
	var named record
	known := false
	if e.authorization != "" {
		named, known = s.memory.get(digest(e.authorization).key())
	}
	if response, ended, err := s.decide(&e, own, named, known); ended || err != nil {
		return response, err
	}
	if s.journal != nil {
		if err := s.journal.append(e); err != nil {
			return acquirer.Response{}, fmt.Errorf("simulator: journal: %w: %w", acquirer.ErrUnavailable, err)
		}
	}
	s.memory.apply(e)
	return e.record.response(e.id), nil
}

// decide judges e by own, the record of e's reference, and by the record of the reference that e
// names, if any. ended reports that e already had a response.
func (s *Simulator) decide(e *effect, own, named record, known bool) (response acquirer.Response, ended bool, err error) {
	switch own.kind {
	case none:
	case e.record.kind:
		return own.response(e.id), true, nil
	case authorize, capture, void, refund, credit:
		return acquirer.Response{}, true, fmt.Errorf("simulator: reference of another kind of request: %w", acquirer.ErrUnavailable)
	}
	if e.record.kind == void && s.underway(named) {
		e.authorization, named, known = "", record{}, false // it arrives before the late request that it names, and does not stop it
	}
	s.reconsider(e, own, named, known)
	return acquirer.Response{}, false, nil
}

// reconsider changes the response to e if an earlier void, or the lack of an earlier request,
// decides it.
func (s *Simulator) reconsider(e *effect, own, followed record, known bool) {
	switch {
	case e.record.kind == void && !known:
		e.record.verdict = approved
	case e.record.kind == void:
	case own.voided && !e.late, e.record.kind == capture && followed.voided:
		e.record.verdict, e.record.network = s.catalogue.voided, noNetwork
	}
}

// live turns a context that has ended into ErrUnknown: the response can no longer reach the caller.
func live(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("simulator: %w: %w", acquirer.ErrUnknown, err)
	}
	return nil
}

// wait returns after d, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
