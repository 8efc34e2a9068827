package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces the file at path by data. Only its owner can read it, unless perm allows more.
// If it returns nil, the content is on the disk. Two writers of one path must not run at the same
// time.
//
// A file that root writes belongs to the owner and group of the replaced file. Without one, it gets
// those values from its folder. The program that reads the file runs as that user.
func WriteFile(path string, data []byte, perm os.FileMode) error {
	return write(path, data, perm, os.Rename)
}

// CreateFile is WriteFile for a path without a file. If the file exists, errors.Is(err,
// fs.ErrExist) holds and the file is not changed. Of concurrent writers, one succeeds.
func CreateFile(path string, data []byte, perm os.FileMode) error {
	return write(path, data, perm, os.Link)
}

// write fills a temporary file in the folder of path, and moves it to path.
func write(path string, data []byte, perm os.FileMode, put func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600 from birth
	if err != nil {
		return fmt.Errorf("create a temporary file next to %s: %w", path, cause(err))
	}
	// Best effort: a leftover is hidden and never read. A rename has moved it already.
	defer func() { _ = os.Remove(f.Name()) }()
	err = giveTo(f, path, filepath.Dir(path))
	if filling := fill(f, data, perm); err == nil {
		err = filling
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	if err := put(f.Name(), path); err != nil {
		return fmt.Errorf("put %s in place: %w", path, cause(err))
	}
	return SyncFolder(filepath.Dir(path))
}

// OpenFile opens the file at path, and creates it if there is none. With os.O_EXCL in flags,
// errors.Is(err, fs.ErrExist) holds if the file exists. A file that root creates belongs to the
// owner and group of its folder.
func OpenFile(path string, flags int, perm os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, perm)
	if errors.Is(err, fs.ErrExist) && flags&os.O_EXCL == 0 {
		// Never change its owner: the folder's owner could have put a link there, to a file of root.
		return os.OpenFile(path, flags, perm)
	}
	if err != nil {
		return nil, err
	}
	if err := giveTo(f, filepath.Dir(path)); err != nil {
		return nil, errors.Join(fmt.Errorf("create %s: %w", path, err), f.Close())
	}
	return f, nil
}

// Mkdir creates a folder. One that root creates belongs to the owner and group of its parent.
func Mkdir(path string, perm os.FileMode) error {
	if err := os.Mkdir(path, perm); err != nil {
		return err
	}
	return giveFolder(path)
}

// MkdirAll is Mkdir for a folder and its missing parents. It succeeds if the folder exists.
func MkdirAll(path string, perm os.FileMode) error {
	path = filepath.Clean(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	err := Mkdir(path, perm)
	if info, stat := os.Stat(path); errors.Is(err, fs.ErrExist) && stat == nil && info.IsDir() {
		return nil // another process created it meanwhile
	}
	return err
}

// MkdirTemp is os.MkdirTemp. A folder that root creates belongs to the owner and group of dir.
func MkdirTemp(dir, pattern string) (string, error) {
	path, err := os.MkdirTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	if err := giveFolder(path); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}

// Remove removes the file at path. When it returns nil, the file does not return after a crash.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, cause(err))
	}
	return SyncFolder(filepath.Dir(path))
}

// cause returns an error without the name of the temporary file, which is a new one each time. A
// caller that retries and logs each new error once would otherwise log it every time.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

func fill(f *os.File, data []byte, perm os.FileMode) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

// SyncFolder writes to the disk which files the folder has: those created, renamed and removed.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	err = d.Sync()
	if closing := d.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
