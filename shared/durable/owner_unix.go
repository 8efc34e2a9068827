//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// giveFolder gives a new folder of root to the owner and group of its parent. It follows no link:
// the owner of the parent could have put one there meanwhile.
func giveFolder(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	return errors.Join(giveTo(f, filepath.Dir(path)), f.Close())
}
