package move

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Sum is of rows, in whatever order: how many there are, and the sum of the first eight bytes of the SHA-256 of each.
type Sum struct {
	rows int64
	hash big.Int
}

// add adds one row's hash.
func (s *Sum) add(h int64) {
	s.rows++
	s.hash.Add(&s.hash, big.NewInt(h))
}

// join adds another sum.
func (s *Sum) join(o *Sum) {
	s.rows += o.rows
	s.hash.Add(&s.hash, &o.hash)
}

// equal reports whether both are of the same rows.
func (s *Sum) equal(o *Sum) bool { return s.rows == o.rows && s.hash.Cmp(&o.hash) == 0 }

// String is the count and the hash.
func (s *Sum) String() string { return fmt.Sprintf("%d rows, hash %s", s.rows, s.text()) }

// text is the sum in hexadecimal digits.
func (s *Sum) text() string { return s.hash.Text(16) }

// parseSum reads what the target answers.
func parseSum(rows int64, hash string) (*Sum, error) {
	s := &Sum{rows: rows}
	if _, ok := s.hash.SetString(hash, 10); !ok {
		return nil, fmt.Errorf("the target's hash %q is not a number", hash)
	}
	return s, nil
}

// A row is hashed as text in which no two different rows are the same: numbers by their digits, texts and bytes behind their length, bytes in
// hexadecimal digits, NULL as a dash, and a comma between them.

// hasher hashes rows in Go.
type hasher struct{ text []byte }

// row hashes one row, the values in the order of the table's columns.
func (h *hasher) row(values []any) (int64, error) {
	text := h.text[:0]
	for i, v := range values {
		if i > 0 {
			text = append(text, ',')
		}
		switch v := v.(type) {
		case nil:
			text = append(text, '-')
		case int64:
			text = strconv.AppendInt(text, v, 10)
		case string:
			text = append(strconv.AppendInt(text, int64(len(v)), 10), ':')
			text = append(text, v...)
		case []byte:
			text = append(strconv.AppendInt(text, int64(len(v)), 10), ':')
			text = hex.AppendEncode(text, v)
		default:
			return 0, fmt.Errorf("a %T in column %d", v, i+1)
		}
	}
	h.text = text
	sum := sha256.Sum256(text)
	return int64(binary.BigEndian.Uint64(sum[:8])), nil //nolint:gosec // all 64 bits, as PostgreSQL reads them
}

// hashOf is the same hash as an expression of PostgreSQL's.
func hashOf(t *table) string {
	parts := make([]string, len(t.columns))
	for i, c := range t.columns {
		name := quoted(c.name)
		switch c.kind {
		case integer:
			parts[i] = "coalesce(" + name + "::text, '-')"
		case text:
			parts[i] = "coalesce(octet_length(" + name + ")::text || ':' || " + name + ", '-')"
		case bytes:
			parts[i] = "coalesce(octet_length(" + name + ")::text || ':' || encode(" + name + ", 'hex'), '-')"
		}
	}
	row := strings.Join(parts, " || ',' || ")
	return "('x' || encode(substr(sha256(convert_to(" + row + ", 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint"
}
