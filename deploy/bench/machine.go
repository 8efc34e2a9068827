package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// syncs is the number of writes that are timed.
const syncs = 200

// errMemoryDisk reports a folder in memory: its numbers mean nothing for durable payments.
var errMemoryDisk = errors.New("the folder for the databases is in memory: name one on a disk with -dir")

// machine returns the facts about the machine, and an error if its numbers would not be honest.
func (b *Bench) machine(ctx context.Context) ([]string, error) {
	fs, err := fileSystem(b.dir)
	if err != nil {
		return nil, err
	}
	if fs == "tmpfs" || fs == "ramfs" {
		return nil, errMemoryDisk
	}
	sync, err := b.syncTime(ctx)
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%d cores, %s %s/%s, disk %s, fdatasync p50 %v", runtime.NumCPU(), runtime.Version(), runtime.GOOS,
			runtime.GOARCH, fs, sync.Round(time.Microsecond)),
		fmt.Sprintf("%d rounds of %v a side, interleaved; value: median of the rounds' ratios", b.Rounds, b.Each),
	}, nil
}

// syncTime returns the median time to append 4 KiB to a file durably.
func (b *Bench) syncTime(ctx context.Context) (time.Duration, error) {
	path := filepath.Join(b.dir, "sync")
	f, err := os.Create(path)
	if err != nil {
		return 0, fmt.Errorf("sync time: %w", err)
	}
	defer func() { _ = os.Remove(path) }() // the whole folder is removed at the end
	times := make([]time.Duration, 0, syncs)
	page := make([]byte, 4096)
	for range syncs {
		start := b.Clock.Now()
		_, err := f.Write(page)
		if err == nil {
			err = dataSync(f)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, errors.Join(fmt.Errorf("sync time: %w", err), f.Close())
		}
		times = append(times, b.Clock.Now().Sub(start))
	}
	slices.Sort(times)
	return load.Percentile(times, 50), f.Close()
}
