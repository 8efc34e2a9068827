package bench

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// fileSystem returns the kind of the file system of dir.
func fileSystem(dir string) (string, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", fmt.Errorf("file system: %w", err)
	}
	names := map[int64]string{
		0x01021994: "tmpfs", 0x858458f6: "ramfs", 0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs",
		0x794c7630: "overlay", 0x2fc12fc1: "zfs",
	}
	kind := int64(s.Type) //nolint:unconvert // narrower on some architectures
	if name, ok := names[kind]; ok {
		return name, nil
	}
	return fmt.Sprintf("%#x", kind), nil
}

// ownTime returns the processor time of this process and of its children that have ended.
func ownTime() time.Duration {
	var sum time.Duration
	for _, of := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(of, &r); err == nil { // it fails for no valid argument
			sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	return sum
}

func dataSync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
