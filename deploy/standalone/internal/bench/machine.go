package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/deploy/standalone/internal/bench/load"
)

// syncs is how many writes the disk's fact is taken of.
const syncs = 200

// errMemoryDisk: numbers of a disk that forgets say nothing about durable payments.
var errMemoryDisk = errors.New("the folder for the databases is in memory: name one on a disk with -dir")

// machine returns what a reader has to know about the machine, and refuses one that cannot give honest numbers.
func (b *Bench) machine(ctx context.Context) ([]string, error) {
	fs, err := fileSystem(b.dir)
	if err != nil {
		return nil, err
	}
	if fs == "tmpfs" || fs == "ramfs" {
		return nil, errMemoryDisk
	}
	idle, err := b.idle(ctx)
	if err != nil {
		return nil, err
	}
	sync, err := b.syncTime(ctx)
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%d cores, %s %s/%s, disk %s, fdatasync p50 %v", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, fs,
			sync.Round(time.Microsecond)),
		fmt.Sprintf("%d rounds of %v a side, interleaved; value: median of the rounds' ratios", b.Rounds, b.Each),
		idle,
	}, nil
}

// busy is from what share of the processors' time on that others disturb the numbers.
const busy = 0.1

// idle says how much others use the machine just now.
func (b *Bench) idle(ctx context.Context) (string, error) {
	first, ok := readProcessorTime()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(time.Second):
	}
	second, _ := readProcessorTime()
	if !ok || second.total == first.total {
		return "how busy the machine was with other things is not known here", nil
	}
	used := 1 - (second.idle-first.idle)/(second.total-first.total)
	text := fmt.Sprintf("other processes used %.0f%% of the machine at the start, load average %s", 100*used, loadAverage())
	if used > busy {
		text += "; TOO BUSY for numbers to keep: repeat on a quiet machine"
		b.say("%s", text)
	}
	return text, nil
}

// processorTime is what the kernel counts since boot, in ticks.
type processorTime struct{ idle, total float64 }

func readProcessorTime() (t processorTime, ok bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t, false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	for i, field := range fields[min(1, len(fields)):] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return t, false
		}
		if i == 3 || i == 4 { // idle, and idle while a disk works
			t.idle += n
		}
		t.total += n
	}
	return t, true
}

// syncTime is the median time to make 4 KiB more of a file durable.
func (b *Bench) syncTime(ctx context.Context) (time.Duration, error) {
	path := filepath.Join(b.dir, "sync")
	f, err := os.Create(path)
	if err != nil {
		return 0, fmt.Errorf("sync time: %w", err)
	}
	defer func() { _ = os.Remove(path) }() // the whole folder goes at the end
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

// loadAverage is the kernel's, of 1, 5 and 15 minutes.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
