package certfile

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// Source reports the present pairs, and new ones.
type Source interface {
	// Run calls report for every change until ctx ends, one call after the other. It returns an
	// error only if it cannot start.
	Run(ctx context.Context, report func(context.Context, Update)) error
}

// Update is a new state of the pairs at the source.
type Update struct {
	// Pairs are valid pairs, ECDSA before RSA. If rejected files were reverted, the pairs are the
	// same as before.
	Pairs    []*Pair
	Warnings []Reason // of the pairs
	// Refusal is the reason why the files were rejected. Pairs is nil then, and the present pairs
	// stay. It is often a *RefusalError.
	Refusal error
}

// Watcher is a Source that watches files. It receives the system's events for their folders. It
// also reads the files at intervals, because network file systems send no events.
type Watcher struct {
	Path  string  // a folder, see Folder
	Files []Files // or these

	Rules Rules
	Clock clock.Clock  // nil: the machine's
	Log   *slog.Logger // nil: the default one

	Look   time.Duration // interval of reads without an event; 0 for a minute
	Quiet  time.Duration // from an event to the read of the files; 0 for 200 ms
	Settle time.Duration // time for changed files to become valid before they are rejected; 0 for 3 s
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

var errNothing = errors.New("certfile: the watcher has no folder and no files: set Path or Files")

// Run reports the pairs in the files immediately, and every change. An operator replaces two files
// one after the other. So after the first valid pairs, it reports a refusal only if the files stay
// invalid for Settle.
func (w *Watcher) Run(ctx context.Context, report func(context.Context, Update)) error {
	if w.Path == "" && len(w.Files) == 0 {
		return errNothing
	}
	folders := newFolders(ctx, w)
	defer folders.close()
	s := watching{Watcher: w, report: report, again: stopped(), settled: stopped()}
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
		case err := <-folders.errors(): // the system may have dropped events
			w.log().WarnContext(ctx, "certificates: file events failed", slog.Any("error", err))
			s.soon()
		case <-s.again.C:
			s.coming = false
			folders.watch(ctx)
			s.read(ctx)
		case <-s.settled.C:
			s.overdue = true
			s.read(ctx)
		case <-look.C:
			folders.watch(ctx)
			s.read(ctx)
		}
	}
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// watching is the state of one Run.
type watching struct {
	*Watcher
	report  func(context.Context, Update)
	again   *time.Timer // for the next read after an event
	settled *time.Timer // ends the wait for invalid files to become valid
	coming  bool        // again runs

	present string // digest of the files of the pairs reported last
	refused string // text of the refusal reported since then, or ""
	waiting bool   // settled runs, or has run
	overdue bool   // settled has run
	bad     string // digest of the invalid files
}

// soon schedules a read after Quiet. Further events do not delay it, because they might never end.
func (s *watching) soon() {
	if !s.coming {
		s.coming = true
		s.again.Reset(cmp.Or(s.Quiet, 200*time.Millisecond))
	}
}

// read reads the files and reports a new state.
func (s *watching) read(ctx context.Context) {
	files, err := s.files()
	if err != nil {
		s.refuse(ctx, err.Error(), Update{Refusal: err})
		return
	}
	state := digest(files)
	if state == s.present && s.refused == "" {
		s.valid()
		return
	}
	pairs, warnings, err := LoadAll(s.clock().Now(), s.Rules, files)
	if digest(files) != state { // another program is writing them
		s.soon()
		return
	}
	if err != nil {
		s.refuse(ctx, state, Update{Warnings: warnings, Refusal: err})
		return
	}
	s.valid()
	s.present, s.refused = state, ""
	s.report(ctx, Update{Pairs: pairs, Warnings: warnings})
}

// valid ends the wait for valid files.
func (s *watching) valid() {
	s.settled.Stop()
	s.waiting, s.overdue, s.bad = false, false, ""
}

// refuse reports a refusal once, if the files stay invalid for Settle. Before the first valid pair
// there is no change to wait for, and it reports the refusal immediately.
func (s *watching) refuse(ctx context.Context, state string, u Update) {
	first := s.present == ""
	if !first && (!s.waiting || s.overdue && state != s.bad) {
		s.waiting, s.overdue, s.bad = true, false, state
		s.log().InfoContext(ctx, "certificates: the files are not valid. Waiting for the rest of the change",
			slog.String("reason", u.Refusal.Error()))
		s.settled.Reset(cmp.Or(s.Settle, 3*time.Second))
		return
	}
	s.bad = state
	if text := u.Refusal.Error(); (first || s.overdue) && text != s.refused {
		s.refused = text
		s.report(ctx, u)
	}
}
