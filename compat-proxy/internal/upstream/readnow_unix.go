//go:build unix

package upstream

import "syscall"

// errNothing: there is nothing to read yet.
const errNothing = syscall.EAGAIN

// readNow reads without waiting, for the descriptors of package net do not block.
func readNow(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }
