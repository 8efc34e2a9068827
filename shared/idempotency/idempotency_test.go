package idempotency_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/idempotency"
)

func TestKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 255)
	for _, c := range []struct {
		lines []string
		want  string
		err   error
	}{
		{nil, "", nil},
		{[]string{"k"}, "k", nil},
		{[]string{" ~"}, " ~", nil},
		{[]string{long}, long, nil},
		{[]string{`"` + long + `"`}, long, nil},
		{[]string{`"` + strings.Repeat(`\"`, 255) + `"`}, strings.Repeat(`"`, 255), nil},
		{[]string{`"` + long + `k"`}, "", idempotency.ErrInvalid},
		{[]string{long + "k"}, "", idempotency.ErrInvalid},
		{[]string{""}, "", idempotency.ErrInvalid},
		{[]string{`""`}, "", idempotency.ErrInvalid},
		{[]string{"a\x00"}, "", idempotency.ErrInvalid},
		{[]string{"a\x1f"}, "", idempotency.ErrInvalid},
		{[]string{"\"a\x1f\""}, "", idempotency.ErrInvalid},
		{[]string{"a\x7f"}, "", idempotency.ErrInvalid},
		{[]string{"é"}, "", idempotency.ErrInvalid},
		{[]string{"a", "a"}, "", idempotency.ErrSeveral},
		{[]string{"", ""}, "", idempotency.ErrSeveral},
	} {
		got, err := idempotency.Key(http.Header{idempotency.Header: c.lines})
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q: got %q, %v, want %q, %v", c.lines, got, err, c.want, c.err)
		}
	}
}

// TestNormalize: a structured-field string and its bare value name one key. A value that only looks
// like a string stays as it is, so that no two different headers become one key.
func TestNormalize(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`k`:          `k`,
		`"k"`:        `k`,
		` "k" `:      `k`,
		` k `:        ` k `,
		`"a b"`:      `a b`,
		`"a\"b"`:     `a"b`,
		`"a\\b"`:     `a\b`,
		`"\\\""`:     `\"`,
		`""`:         ``,
		`"`:          `"`,
		`k"`:         `k"`,
		`"k`:         `"k`,
		`"a"b"`:      `"a"b"`,
		`"a\"`:       `"a\"`,
		`"a\b"`:      `"a\b"`,
		`"a\`:        `"a\`,
		`"k";v=1`:    `"k";v=1`,
		"\"é\"":      "\"é\"",
		"\"a\tb\"":   "\"a\tb\"",
		`'k'`:        `'k'`,
		`"k", "l"`:   `"k", "l"`,
		`"\"quoted"`: `"quoted`,
	} {
		if got := idempotency.Normalize(value); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}
