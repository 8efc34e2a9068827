//go:build unix && !linux

package programtest

import "syscall"

func withTest() *syscall.SysProcAttr { return nil }
