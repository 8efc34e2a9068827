package certfile

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// folders receives the system's events for the folders of a watcher. It watches folders, because
// files are replaced by renaming, and Kubernetes changes the target of links.
type folders struct {
	of     *Watcher
	system *fsnotify.Watcher      // nil if the system allows no more watches
	seen   map[string]os.FileInfo // folders that are watched
	logged map[string]bool        // folders whose missing events were logged
}

func newFolders(ctx context.Context, of *Watcher) *folders {
	f := &folders{of: of, seen: map[string]os.FileInfo{}, logged: map[string]bool{}}
	system, err := fsnotify.NewWatcher()
	if err != nil {
		of.log().WarnContext(ctx, "certificates: the system sends no file events. The files are read at intervals only",
			slog.Any("error", err))
		return f
	}
	f.system = system
	f.watch(ctx)
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
		_ = f.system.Close() // no event is read afterwards
	}
}

// lost removes a folder that was deleted. A new folder may get the same inode number.
func (f *folders) lost(e fsnotify.Event) {
	if f.seen[e.Name] != nil && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		_ = f.system.Remove(e.Name) // usually the system has removed it already
		delete(f.seen, e.Name)
	}
}

// watch watches every folder. It watches a replaced folder again.
func (f *folders) watch(ctx context.Context) {
	if f.system == nil {
		return
	}
	for _, path := range f.paths() {
		about, err := os.Stat(path)
		if err == nil && f.seen[path] != nil && os.SameFile(about, f.seen[path]) {
			continue
		}
		if f.seen[path] != nil {
			_ = f.system.Remove(path) // usually the system has removed it already
			delete(f.seen, path)
		}
		if err == nil {
			err = f.system.Add(path)
		}
		if err != nil && !f.logged[path] {
			f.logged[path] = true
			f.of.log().WarnContext(ctx, "certificates: the folder sends no file events. Its files are read at intervals only",
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
