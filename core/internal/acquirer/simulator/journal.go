package simulator

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/causeway-pay/causeway/shared/durable"
)

// segmentSize is the size at which the journal's file becomes the older of two.
const segmentSize = 8 << 20

// journal is the file in which the simulators of all processes of a machine record their effects.
// The lock of the file puts the effects in one order. A simulator takes the lock, reads the lines
// of the others, decides, and appends its own line. A journal is not safe for concurrent use.
type journal struct {
	path   string
	limits limits
	memory *memory
	file   *os.File // nil before the first use, and after another process has begun a new file
	info   os.FileInfo
	loaded bool // the memory has all lines of file up to size, and the older lines
	size   int64
	line   []byte // reused
}

// openJournal returns the journal after it has filled the memory.
func openJournal(path string, l limits, m *memory) (*journal, error) {
	j := &journal{path: path, limits: l, memory: m}
	if err := j.lock(); err != nil {
		return nil, err
	}
	j.unlock()
	return j, nil
}

// lock excludes the other processes and reads their lines. It starts a new file if the present one
// is full.
func (j *journal) lock() error {
	for {
		current, err := j.lockFile()
		full := j.size >= j.limits.segment
		if err == nil && current && !full {
			return nil
		}
		if err == nil && current {
			err = os.Rename(j.path, j.path+".1")
		}
		if err = errors.Join(err, j.close()); err != nil {
			return err
		}
	}
}

// lockFile locks the file and reads it to its end. It returns false if another process has begun a
// new file meanwhile.
func (j *journal) lockFile() (current bool, err error) {
	if j.file == nil {
		if err := j.open(); err != nil {
			return false, err
		}
	}
	if err := flock(j.file, syscall.LOCK_EX); err != nil {
		return false, err
	}
	named, err := os.Stat(j.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !os.SameFile(j.info, named) || named.Size() < j.size:
		return false, nil
	default:
		return true, j.read(named.Size())
	}
}

// open opens the file without reading it.
func (j *journal) open() (err error) {
	j.loaded, j.size = false, 0
	if j.file, err = durable.OpenFile(j.path, os.O_RDWR|os.O_APPEND, 0o600); err == nil {
		j.info, err = j.file.Stat()
	}
	return err
}

// read applies the lines up to end. It cuts off an unfinished last line. Its effect never took
// place: the process that wrote it held the lock, so the process has ended.
func (j *journal) read(end int64) error {
	if j.loaded && j.size == end {
		return nil
	}
	text := make([]byte, end-j.size)
	if _, err := j.file.ReadAt(text, j.size); err != nil {
		return err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if j.loaded {
		replay(text, j.memory.apply)
	} else if err := j.load(text); err != nil {
		return err
	}
	if j.size += int64(len(text)); j.size < end {
		return j.file.Truncate(j.size)
	}
	return nil
}

// load fills the memory from the older file and the lines of the younger one.
func (j *journal) load(younger []byte) error {
	j.memory.clear()
	// Older lines do not fit into the two generations, so they are not read.
	younger, left := lastLines(younger, 2*j.limits.generation)
	if left > 0 {
		older, err := os.ReadFile(j.path + ".1")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		older, _ = lastLines(older, left)
		replay(older, j.memory.apply)
	}
	replay(younger, j.memory.apply)
	j.loaded = true
	return nil
}

// append passes the line for e to the operating system in one write. After an error the effect is
// not in the journal: the next lock cuts off the written part of the line.
func (j *journal) append(e effect) error {
	j.line = e.appendLine(j.line[:0])
	if _, err := j.file.Write(j.line); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	j.size += int64(len(j.line))
	return nil
}

func (j *journal) unlock() { _ = flock(j.file, syscall.LOCK_UN) } // fails for a closed file only

// close also unlocks the file.
func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	file := j.file
	j.file = nil
	return file.Close()
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// lastLines returns the last n lines of data, and how many fewer than n there are.
func lastLines(data []byte, n int) (lines []byte, left int) {
	start := len(data)
	for start > 0 && n > 0 {
		start = bytes.LastIndexByte(data[:start-1], '\n') + 1
		n--
	}
	return data[start:], n
}

func replay(lines []byte, apply func(effect)) {
	for len(lines) > 0 {
		line, rest, _ := bytes.Cut(lines, []byte{'\n'})
		if e, ok := parseLine(line); ok {
			apply(e)
		}
		lines = rest
	}
}
