package programtest

import "syscall"

// withTest has a program die with the test that started it, however that dies.
func withTest() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
