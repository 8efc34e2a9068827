package certfile

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// folders receives the system's events for the folders of a watcher. The folders are watched, not
// the files, which are replaced by renaming, or are links that Kubernetes turns elsewhere.
type folders struct {
	of     *Watcher
	system *fsnotify.Watcher      // nil if the system has none to spare
	seen   map[string]os.FileInfo // folders that are watched
	told   map[string]bool        // folders that could not be watched, as logged
}

func newFolders(ctx context.Context, of *Watcher) *folders {
	f := &folders{of: of, seen: map[string]os.FileInfo{}, told: map[string]bool{}}
	system, err := fsnotify.NewWatcher()
	if err != nil {
		of.log().WarnContext(ctx, "certificates: the system does not watch files for us, so they are looked at now and then",
			slog.Any("error", err))
		return f
	}
	f.system = system
	f.attend(ctx)
	return f
}

func (f *folders) events() <-chan fsnotify.Event {
	if f.system == nil {
		return nil
	}
	return f.system.Events
}

func (f *folders) errors() <-chan error {
	if f.system == nil {
		return nil
	}
	return f.system.Errors
}

func (f *folders) close() {
	if f.system != nil {
		_ = f.system.Close() // nothing depends on it any more
	}
}

// lost removes a folder that is gone: its successor may have the same number on the disk.
func (f *folders) lost(e fsnotify.Event) {
	if f.seen[e.Name] != nil && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		_ = f.system.Remove(e.Name) // most of the time it is forgotten already
		delete(f.seen, e.Name)
	}
}

// attend watches every folder, anew where another one has taken its place.
func (f *folders) attend(ctx context.Context) {
	if f.system == nil {
		return
	}
	for _, path := range f.paths() {
		about, err := os.Stat(path)
		if err == nil && f.seen[path] != nil && os.SameFile(about, f.seen[path]) {
			continue
		}
		if f.seen[path] != nil {
			_ = f.system.Remove(path) // most of the time it is forgotten already
			delete(f.seen, path)
		}
		if err == nil {
			err = f.system.Add(path)
		}
		if err != nil && !f.told[path] {
			f.told[path] = true
			f.of.log().WarnContext(ctx, "certificates: a folder cannot be watched, so it is looked at now and then",
				slog.String("folder", path), slog.Any("error", err))
		}
		if err != nil {
			continue
		}
		f.seen[path] = about
	}
}

func (f *folders) paths() []string {
	if f.of.Path != "" {
		return []string{filepath.Clean(f.of.Path)}
	}
	var paths []string
	for _, files := range f.of.Files {
		paths = append(paths, filepath.Dir(files.Chain), filepath.Dir(files.Key))
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
