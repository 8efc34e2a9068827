//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives a new file of root to the owner and group of the first of the paths that exists.
// Other users cannot give a file away, and keep theirs.
func giveTo(f *os.File, paths ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			return f.Chown(int(owner.Uid), int(owner.Gid))
		}
	}
	return nil
}
