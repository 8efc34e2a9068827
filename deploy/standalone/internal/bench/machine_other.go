//go:build !linux

package bench

import "os"

func fileSystem(string) (string, error) { return "unknown", nil }

func dataSync(f *os.File) error { return f.Sync() }
