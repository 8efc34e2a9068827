package certfile

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// Source is where pairs come from, now and whenever there are new ones.
type Source interface {
	// Run reports every change until ctx ends, one call after the other. It returns an error only
	// if it cannot begin.
	Run(ctx context.Context, tell func(context.Context, Update)) error
}

// Update is a state that a source has found.
type Update struct {
	// Pairs are checked, ECDSA before RSA. After a refused state was reverted they are the same as
	// before.
	Pairs    []*Pair
	Warnings []Reason // of the pairs
	// Refusal is the reason for which the found files are not taken, instead of pairs: the present
	// ones stay. It often is a *RefusalError.
	Refusal error
}

// Watcher is the source that watches files. It receives the system's events for their folders. It
// also looks at intervals, because file systems over a network send no events.
type Watcher struct {
	Path  string  // a folder, see Folder
	Files []Files // or these

	Rules Rules
	Clock clock.Clock  // nil: the machine's
	Log   *slog.Logger // nil: the default one

	Look   time.Duration // between two looks without an event; 0: a minute
	Quiet  time.Duration // from a change to the reading of the files; 0: 200 ms
	Settle time.Duration // for which a state that is refused may be half of a change; 0: 3 s
}

var _ Source = (*Watcher)(nil)

// Load reads and checks the files once, for a program that does not start without a certificate.
func (w *Watcher) Load() (pairs []*Pair, warnings []Reason, err error) {
	files, err := w.files()
	if err != nil {
		return nil, nil, err
	}
	return LoadAll(w.clock().Now(), w.Rules, files)
}

func (w *Watcher) files() ([]Files, error) {
	if w.Path == "" {
		return w.Files, nil
	}
	return Folder(w.Path)
}

func (w *Watcher) clock() clock.Clock {
	if w.Clock == nil {
		return clock.System()
	}
	return w.Clock
}

func (w *Watcher) log() *slog.Logger {
	if w.Log == nil {
		return slog.Default()
	}
	return w.Log
}

var errNothing = errors.New("certfile: a watcher needs a folder or files")

// Run reports the pairs that it finds at once, and every change. It reports a faulty state if the
// state has not been corrected for Settle, because an operator replaces two files one after the
// other. Until then only the log has it.
func (w *Watcher) Run(ctx context.Context, tell func(context.Context, Update)) error {
	if w.Path == "" && len(w.Files) == 0 {
		return errNothing
	}
	folders := newFolders(ctx, w)
	defer folders.close()
	s := watching{Watcher: w, tell: tell, again: stopped(), settled: stopped()}
	look := time.NewTicker(cmp.Or(w.Look, time.Minute))
	defer look.Stop()
	s.read(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-folders.events():
			folders.lost(e)
			s.soon()
		case err := <-folders.errors(): // events may have been lost
			w.log().WarnContext(ctx, "certificates: the system's watch of files is disturbed", slog.Any("error", err))
			s.soon()
		case <-s.again.C:
			s.coming = false
			folders.attend(ctx)
			s.read(ctx)
		case <-s.settled.C:
			s.overdue = true
			s.read(ctx)
		case <-look.C:
			folders.attend(ctx)
			s.read(ctx)
		}
	}
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// watching is one run.
type watching struct {
	*Watcher
	tell    func(context.Context, Update)
	again   *time.Timer // when to read next
	settled *time.Timer // when a refused state is no half of a change any more
	coming  bool        // again runs

	present string // digest of the pairs that were reported last
	refused string // text of the refusal that was reported since, or ""
	waiting bool   // settled runs, or has run
	overdue bool   // settled has run
	bad     string // state that is refused
}

// soon reads after a quiet moment, which further changes do not put off: they might never end.
func (s *watching) soon() {
	if !s.coming {
		s.coming = true
		s.again.Reset(cmp.Or(s.Quiet, 200*time.Millisecond))
	}
}

// read looks at the files and reports a new state.
func (s *watching) read(ctx context.Context) {
	files, err := s.files()
	if err != nil {
		s.refuse(ctx, err.Error(), Update{Refusal: err})
		return
	}
	state := digest(files)
	if state == s.present && s.refused == "" {
		s.calm()
		return
	}
	pairs, warnings, err := LoadAll(s.clock().Now(), s.Rules, files)
	if digest(files) != state { // somebody writes right now
		s.soon()
		return
	}
	if err != nil {
		s.refuse(ctx, state, Update{Warnings: warnings, Refusal: err})
		return
	}
	s.calm()
	s.present, s.refused = state, ""
	s.tell(ctx, Update{Pairs: pairs, Warnings: warnings})
}

// calm ends the wait for a state to be mended.
func (s *watching) calm() {
	s.settled.Stop()
	s.waiting, s.overdue, s.bad = false, false, ""
}

// refuse reports a refusal once, after there was time to correct the state.
func (s *watching) refuse(ctx context.Context, state string, u Update) {
	if !s.waiting || s.overdue && state != s.bad {
		s.waiting, s.overdue, s.bad = true, false, state
		s.log().InfoContext(ctx, "certificates: waiting for the other half of a change",
			slog.String("so_far", u.Refusal.Error()))
		s.settled.Reset(cmp.Or(s.Settle, 3*time.Second))
		return
	}
	s.bad = state
	if text := u.Refusal.Error(); s.overdue && text != s.refused {
		s.refused = text
		s.tell(ctx, u)
	}
}
