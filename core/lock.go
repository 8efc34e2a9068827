package core

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/causeway-pay/causeway/shared/durable"
)

// lockFolder keeps a second service off the same store: it would take the first one's running payments for a dead process's. The lock
// goes with the process, however that ends.
func lockFolder(path string) (*os.File, error) {
	return lockOnly(path, "another service runs on this data folder")
}

// lockOnly takes a lock, or says who else may have it.
func lockOnly(path, taken string) (*os.File, error) {
	f, err := durable.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s (%s is locked): %w", taken, path, err), f.Close())
	}
	return f, nil
}
