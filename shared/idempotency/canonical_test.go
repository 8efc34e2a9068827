package idempotency_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/idempotency"
)

// TestCanonical: bodies that differ in white space, escapes or the order of names have one
// canonical form. Each number stays as it was sent, so no number is parsed.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                                "{}",
		" { } ":                           "{}",
		`{"b":[ 1,2 ],"a":{"d":1,"c":2}}`: `{"a":{"c":2,"d":1},"b":[1,2]}`,
		"{\"\\u0061\" :\n\"\\u00e9\\/\"}": `{"a":"é/"}`,
		`[5e-324,4.9E-324,1e99999,1e2]`:   `[5e-324,4.9E-324,1e99999,1e2]`,
		`[1,1.0,-0,9007199254740993]`:     `[1,1.0,-0,9007199254740993]`,
		strings.Repeat("[", 32) + strings.Repeat("]", 32): strings.Repeat("[", 32) + strings.Repeat("]", 32),
		strings.Repeat("[", 33) + strings.Repeat("]", 33): "",
		"{":                "",
		" ":                "",
		"{} {}":            "",
		`{"a":1,"a":1}`:    "",
		"{\"a\":\"\xff\"}": "",
	} {
		sent := []byte(body)
		if got := idempotency.Canonical(sent); string(got) != want || got == nil != (want == "") {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
		if string(sent) != body {
			t.Errorf("%q: the body was changed to %q", body, sent)
		}
	}
}
