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
	// Run tells of every change until ctx ends, one call after the other, and returns an error only if it cannot begin.
	Run(ctx context.Context, tell func(context.Context, Update)) error
}

// Update is what a source has found.
type Update struct {
	Pairs    []*Pair  // checked, ECDSA before RSA; the same as before, where a refused state was taken back
	Warnings []Reason // of the pairs
	Refusal  error    // instead of pairs, why what was found is not taken: the present ones stay. Often a *RefusalError
}

// Watcher is the source that watches files. It is told by the system of what happens in their folders, and looks by itself every now and then:
// file systems over a network tell nothing.
type Watcher struct {
	Path  string  // a folder, see Folder
	Files []Files // or these

	Rules Rules
	Clock clock.Clock  // nil: the machine's
	Log   *slog.Logger // nil: the default one

	Look   time.Duration // between two looks that nothing asked for; 0: a minute
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

// Run tells of the pairs: of those it finds at once, and of every change. A state with something wrong is told when it has not been mended for
// Settle, because whoever replaces two files does it one after the other; until then the log has it.
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

	present string // digest of the pairs that were told last
	refused string // text of the refusal that was told since, or ""
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

// read looks at the files and tells what is new.
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

// refuse tells of a refusal once, when there was time to mend the state.
func (s *watching) refuse(ctx context.Context, state string, u Update) {
	if !s.waiting || s.overdue && state != s.bad {
		s.waiting, s.overdue, s.bad = true, false, state
		s.log().InfoContext(ctx, "certificates: waiting for the other half of a change", slog.String("so_far", u.Refusal.Error()))
		s.settled.Reset(cmp.Or(s.Settle, 3*time.Second))
		return
	}
	s.bad = state
	if text := u.Refusal.Error(); s.overdue && text != s.refused {
		s.refused = text
		s.tell(ctx, u)
	}
}
