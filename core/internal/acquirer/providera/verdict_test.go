package providera

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// contractCode is a line of testdata/codes.txt: a code of the wire contract, the response code that
// it comes with, and its class. Envelope codes have no response code.
type contractCode struct {
	code, response string
	class          class
}

func contractCodes(t *testing.T) []contractCode {
	t.Helper()
	file, err := os.Open("testdata/codes.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var out []contractCode
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) != 3 {
			t.Fatalf("line %q: want three fields", lines.Text())
		}
		out = append(out, contractCode{f[0], f[1], class(f[2])})
	}
	return out
}

// TestVerdicts: the tables have exactly the codes of the contract, with their classes.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, c := range contractCodes(t) {
		seen++
		v, known := envelopes[c.code]
		if c.response != "-" {
			reason, err := strconv.Atoi(c.code)
			if err != nil {
				t.Fatalf("%s: %v", c.code, err)
			}
			v, known = reasons[reason]
		}
		if !known || v.class != c.class {
			t.Errorf("%s: got %q, known %t, want %q", c.code, v.class, known, c.class)
		}
		declines := v.class == declined
		switch {
		case declines != v.decline.Valid(), declines && len(v.response) != 2, declines && v.response == isoApproved:
			t.Errorf("%s: class %q with decline code %q and response code %q", c.code, v.class, v.decline, v.response)
		case v.class == approved && v.response != isoApproved:
			t.Errorf("%s: approved with the response code %q", c.code, v.response)
		}
	}
	if want := len(envelopes) + len(reasons); seen != want {
		t.Errorf("the contract has %d codes, the tables %d", seen, want)
	}
}

// TestMeaning: only the response code of the contract gives a reason its class. A decline and an
// error are the same to us. Reasons that are not in the contract are unknown.
func TestMeaning(t *testing.T) {
	t.Parallel()
	for _, c := range contractCodes(t) {
		if c.response == "-" {
			continue
		}
		reason, err := strconv.Atoi(c.code)
		if err != nil {
			t.Fatal(err)
		}
		for _, response := range []string{"", "0", "1", "2", "3", "4", "5", "1 ", "x"} {
			want := unknown
			refuses := response == "2" || response == "3"
			if response == c.response || refuses && (c.response == "2" || c.response == "3") {
				want = c.class
			}
			if got := meaning(response, reason).class; got != want {
				t.Errorf("response code %q, reason %d: got %q, want %q", response, reason, got, want)
			}
		}
	}
	for _, reason := range []int{-1, 0, 14, 299, 1000, 99999} {
		for _, response := range []string{"1", "2", "3", "4"} {
			if got := meaning(response, reason); got.class != unknown || got.decline != v1.DeclineCode("") {
				t.Errorf("response code %s, reason %d: got %+v, want unknown", response, reason, got)
			}
		}
	}
}
