package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
)

// entry is one line of the acquirer's journal: a request with its response.
type entry struct {
	kind          byte // a, c, v, r or o
	reference     string
	authorization string // that it follows
	approved      bool
	response      string
	amount        int64
	final         bool // a capture that releases the rest of its authorization
	at            int  // its position in the journal
}

// journal is the acquirer's own record.
type journal struct {
	entries  []entry
	twice    []string         // references with more than one line
	byRef    map[string]entry // by reference
	released map[string]int   // by reference, the position of its last approved release
	byTxn    map[string][]entry
}

// readJournal reads the acquirer's journal, without the transactions of other merchants.
func (s *storeReader) readJournal(merchant int64) *journal {
	j := must(readJournal(s.journal))
	for _, text := range s.texts(`SELECT id FROM transactions WHERE merchant_id <> ?1`, merchant) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			delete(j.byTxn, id.Format(id.Transaction, n))
		}
	}
	return j
}

// readJournal reads both files of the acquirer's journal. It ignores an unfinished last line, as a
// killed process leaves it.
func readJournal(path string) (*journal, error) {
	var text []byte
	for _, name := range []string{path + ".1", path} {
		part, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("journal: %w", err)
		}
		text = append(text, part...)
	}
	return newJournal(text[:bytes.LastIndexByte(text, '\n')+1])
}

// Taken returns for each transaction the number of authorizations that the acquirer holds or took,
// by its journal at path.
func Taken(path string) (map[string]int, error) {
	j, err := readJournal(path)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for transaction := range j.byTxn {
		out[transaction] = len(j.held(transaction))
	}
	return out, nil
}

func newJournal(text []byte) (*journal, error) {
	j := &journal{byRef: map[string]entry{}, released: map[string]int{}, byTxn: map[string][]entry{}}
	for line := range bytes.Lines(text) {
		e, ok := parseEntry(string(line))
		if !ok {
			return nil, fmt.Errorf("journal: cannot read %q", line)
		}
		e.at = len(j.entries)
		j.entries = append(j.entries, e)
		if _, again := j.byRef[e.reference]; again {
			j.twice = append(j.twice, e.reference)
		}
		j.byRef[e.reference] = e
		if e.releases() {
			j.released[e.authorization] = e.at
		}
		j.byTxn[e.transaction()] = append(j.byTxn[e.transaction()], e)
	}
	return j, nil
}

func parseEntry(line string) (entry, bool) {
	f := strings.Fields(line)
	if len(f) < 9 || len(f[0]) != 1 { // some lines have more fields of the response
		return entry{}, false
	}
	amount, err := strconv.ParseInt(f[5], 10, 64)
	e := entry{kind: f[0][0], reference: f[1], approved: f[3] == "00", response: f[3], amount: amount}
	e.final = e.kind == 'c' && slices.Contains(f[9:], "final")
	if f[2] != "-" {
		e.authorization = f[2]
	}
	return e, err == nil
}

// transaction returns the v1 id of the transaction of the line. In later attempts to confirm, a
// number follows the id.
func (e entry) transaction() string {
	name := e.reference
	if e.authorization != "" {
		name = e.authorization
	}
	const length = len("txn_") + 13
	return name[:min(len(name), length)]
}

// held returns the approved authorizations of a transaction that no reversal released.
func (j *journal) held(transaction string) []entry {
	var out []entry
	for _, e := range j.byTxn[transaction] {
		if e.kind != 'a' || !e.approved {
			continue
		}
		if at, gone := j.released[e.reference]; !gone || at < e.at || strings.HasPrefix(j.entries[at].reference, "void_") {
			out = append(out, e)
		}
	}
	return out
}

// of returns the approved lines of a kind that belong to a transaction and have a reference with
// that prefix.
func (j *journal) of(transaction string, kind byte, prefix string) []entry {
	var out []entry
	for _, e := range j.byTxn[transaction] {
		if e.kind == kind && e.approved && strings.HasPrefix(e.reference, prefix) {
			out = append(out, e)
		}
	}
	return out
}

// moved returns the captures (c), refunds (r) or unlinked refunds (o) among lines that moved money
// and were not released since. A release by a refund moves none either: it cancels the line that
// it releases.
func (j *journal) moved(lines []entry, kind byte) []entry {
	var out []entry
	for _, e := range lines {
		at, released := j.released[e.reference]
		if e.kind == kind && e.approved && !e.releases() && (!released || at < e.at) {
			out = append(out, e)
		}
	}
	return out
}

// releases reports whether an approved request reversed the request that it names. After a
// settlement a refund does so.
func (e entry) releases() bool {
	return e.approved && (e.kind == 'v' || e.kind == 'r' && strings.HasPrefix(e.reference, "late_"))
}
