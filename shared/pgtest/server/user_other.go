//go:build !unix

package server

import "os/exec"

func give(string) error { return nil }

func asServer(*exec.Cmd) {}
