//go:build !linux

package bench

import (
	"os"
	"time"
)

func fileSystem(string) (string, error) { return "unknown", nil }

func ownTime() time.Duration { return 0 }

func dataSync(f *os.File) error { return f.Sync() }
