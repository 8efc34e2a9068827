package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// errMemoryDisk reports a folder in memory: its numbers mean nothing for durable payments.
var errMemoryDisk = errors.New("the folder for the databases is in memory: name one on a disk with -dir")

// machine returns the facts about the machine. It ends the run if its numbers would not be
// reliable.
func (b *Bench) machine() []string {
	fs := fileSystem(b.dir)
	if fs == "tmpfs" || fs == "ramfs" {
		check(errMemoryDisk)
	}
	return []string{
		fmt.Sprintf("%d cores, %s %s/%s, disk %s, fsync p50 %v", runtime.NumCPU(), runtime.Version(), runtime.GOOS,
			runtime.GOARCH, fs, b.syncTime().Round(time.Microsecond)),
		fmt.Sprintf("%d rounds of %v a side, interleaved; value: median of the rounds' ratios", b.Rounds, b.Each),
	}
}

// fileSystem returns the type of the file system of a folder, or "unknown" if the system has no
// list of mounts.
func fileSystem(dir string) string {
	dir, _ = filepath.Abs(dir)
	mounts, _ := procfs.GetMounts()
	kind, longest := "unknown", 0
	for _, m := range mounts { // a later mount hides an earlier one
		under := dir == m.MountPoint || strings.HasPrefix(dir, strings.TrimSuffix(m.MountPoint, "/")+"/")
		if under && len(m.MountPoint) >= longest {
			kind, longest = m.FSType, len(m.MountPoint)
		}
	}
	return kind
}

// syncTime returns the median time to append 4 KiB to a file durably.
func (b *Bench) syncTime() time.Duration {
	page, f := make([]byte, 4096), must(os.Create(b.path("sync")))
	defer func() { _ = f.Close() }() // it was synchronized
	return b.repeat(1, func() error {
		_, err := f.Write(page)
		return errors.Join(err, f.Sync())
	}).p50
}
