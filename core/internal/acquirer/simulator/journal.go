package simulator

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// segmentSize is how large a file of the journal grows before it becomes the older of the two.
const segmentSize = 8 << 20

// journal is the file that outlives the process. It is not safe for concurrent use.
type journal struct {
	path   string
	limit  int64
	file   *os.File
	size   int64
	line   []byte // reused
	broken error  // what left the file in a state unknown
}

// openJournal gives the effects of both segments to apply, oldest first, and opens the younger for more.
func openJournal(path string, l limits, apply func(effect)) (*journal, error) {
	younger, err := readIfThere(path)
	if err != nil {
		return nil, err
	}
	// A line that a killed process left unfinished must go, or the next would be glued to it.
	younger = younger[:bytes.LastIndexByte(younger, '\n')+1]

	j := &journal{path: path, limit: l.segment, size: int64(len(younger))}
	// Two generations hold no more, so older lines are not worth the start's time.
	younger, left := lastLines(younger, 2*l.generation)
	if left > 0 {
		older, err := readIfThere(path + ".1")
		if err != nil {
			return nil, err
		}
		older, _ = lastLines(older, left)
		replay(older, apply)
	}
	replay(younger, apply)

	if err := j.open(); err != nil {
		return nil, err
	}
	if err := j.file.Truncate(j.size); err != nil {
		return nil, errors.Join(err, j.file.Close())
	}
	return j, nil
}

// append hands the line for e to the operating system in one write. After an error the effect is not in the journal.
func (j *journal) append(e effect) error {
	if j.broken != nil {
		return j.broken
	}
	j.line = e.appendLine(j.line[:0])
	if j.size > 0 && j.size+int64(len(j.line)) > j.limit {
		if err := j.rotate(); err != nil {
			j.broken = fmt.Errorf("rotate: %w", err)
			return j.broken
		}
	}
	if _, err := j.file.Write(j.line); err != nil {
		// A part may have been written, which would be read as this effect later.
		if undo := j.file.Truncate(j.size); undo != nil {
			j.broken = fmt.Errorf("undo a write: %w", undo)
		}
		return fmt.Errorf("append: %w", err)
	}
	j.size += int64(len(j.line))
	return nil
}

func (j *journal) rotate() error {
	if err := j.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(j.path, j.path+".1"); err != nil {
		return err
	}
	j.size = 0
	return j.open()
}

func (j *journal) open() error {
	var err error
	j.file, err = os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return err
}

func (j *journal) close() error {
	return j.file.Close()
}

func readIfThere(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
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
