package telemetry_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent  = "00-" + traceID + "-00f067aa0ba902b7-01"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  string // the header passed on, "" for none
	}{
		"OK":                {[]string{parent}, parent},
		"Unsampled":         {[]string{parent[:53] + "00"}, parent[:53] + "00"},
		"LaterVersion":      {[]string{"cc" + parent[2:]}, parent},
		"LaterVersionMore":  {[]string{"cc" + parent[2:] + "-what"}, parent},
		"LaterVersionStuck": {[]string{"cc" + parent[2:] + "what"}, ""},
		"VersionFF":         {[]string{"ff" + parent[2:]}, ""},
		"Longer":            {[]string{parent + "-00"}, ""},
		"Shorter":           {[]string{parent[:54]}, ""},
		"UpperCase":         {[]string{strings.ToUpper(parent)}, ""},
		"NoTrace":           {[]string{"00-" + strings.Repeat("0", 32) + parent[35:]}, ""},
		"NoSpan":            {[]string{parent[:36] + strings.Repeat("0", 16) + parent[52:]}, ""},
		"NotHex":            {[]string{strings.Replace(parent, "4bf", "4bg", 1)}, ""},
		"FlagsNotHex":       {[]string{parent[:53] + "0x"}, ""},
		"WrongDash":         {[]string{strings.Replace(parent, "-00f", "_00f", 1)}, ""},
		"CardInSpan":        {[]string{"00-" + traceID + "-4111111111111111-01"}, ""},
		"CardInTrace":       {[]string{"00-0000000000000000" + "5555555555554444" + parent[35:]}, ""},
		"Empty":             {[]string{""}, ""},
		"Twice":             {[]string{parent, parent}, ""},
		"None":              {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := telemetry.Parse(http.Header{"Traceparent": c.lines})
			h := http.Header{}
			r.SetHeaders(h)
			if got := h.Get("traceparent"); got != c.want {
				t.Errorf("passed on: got %q, want %q", got, c.want)
			}
			want := ""
			if c.want != "" {
				want = traceID
			}
			if got := r.TraceID(); got != want || r.IsZero() != (c.want == "") {
				t.Errorf("trace id: got %q, want %q", got, want)
			}
		})
	}
}

func TestTheStateIsBounded(t *testing.T) {
	t.Parallel()
	long := "a=" + strings.Repeat("x", 253)
	for name, c := range map[string]struct {
		parent string
		lines  []string
		want   string
	}{
		"OK":       {parent, []string{"vendor=a,other=b"}, "vendor=a,other=b"},
		"TwoLines": {parent, []string{"vendor=a", "other=b"}, "vendor=a,other=b"},
		"512Bytes": {
			parent,
			[]string{long + ",b=" + strings.Repeat("y", 512-len(long)-3)},
			long + ",b=" + strings.Repeat("y", 512-len(long)-3),
		},
		"513Bytes":      {parent, []string{long + ",b=" + strings.Repeat("y", 513-len(long)-3)}, ""},
		"32Members":     {parent, []string{members(32)}, members(32)},
		"33Members":     {parent, []string{members(33)}, ""},
		"Malformed":     {parent, []string{"no value"}, ""},
		"Control":       {parent, []string{"a=\x01"}, ""},
		"WithoutParent": {"", []string{"vendor=a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			telemetry.Parse(http.Header{"Traceparent": {c.parent}, "Tracestate": c.lines, "Baggage": {"card=1"}}).SetHeaders(h)
			if got := h.Get("tracestate"); got != c.want || h.Get("baggage") != "" {
				t.Errorf("got %q, want %q; baggage %q", got, c.want, h.Get("baggage"))
			}
		})
	}
}

func members(n int) string {
	var out []string
	for i := range n {
		out = append(out, string(rune('a'+i%26))+string(rune('a'+i/26))+"=1")
	}
	return strings.Join(out, ",")
}

func FuzzParse(f *testing.F) {
	f.Add(parent, "vendor=a")
	f.Add("cc"+parent[2:]+"-00", "a=b,c=d")
	f.Add("00-"+strings.Repeat("0", 32)+"-"+strings.Repeat("0", 16)+"-00", "")
	f.Fuzz(func(t *testing.T, parent, state string) {
		r := telemetry.Parse(http.Header{"Traceparent": {parent}, "Tracestate": {state}})
		sent := http.Header{}
		r.SetHeaders(sent)
		if r.IsZero() {
			if len(sent) != 0 || r.TraceID() != "" {
				t.Fatalf("nothing was taken and %v passed on", sent)
			}
			return
		}
		if len(sent.Get("traceparent")) != 55 || len(sent.Get("tracestate")) > 512 || len(r.TraceID()) != 32 {
			t.Fatalf("passed on %q", sent)
		}
		if again := telemetry.Parse(sent); again != r {
			t.Fatalf("the next hop reads %v, want %v", again, r)
		}
	})
}
