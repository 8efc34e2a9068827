package wire_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

// FuzzParse requires exactly one result and no panic. A fault must be a document of its format. An
// accepted request must give the same tree again in either format.
func FuzzParse(f *testing.F) {
	for _, name := range goldenCases(f) {
		files, err := filepath.Glob(filepath.Join("testdata", name, "request.*"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body, false)
			f.Add(body, true)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, lenient bool) {
		o := wire.Options{LenientOrder: lenient}
		req, fault := wire.Parse(body, o)
		if (req == nil) == (fault == nil) {
			t.Fatalf("got %v and %v", req, fault)
		}
		if fault != nil {
			document(t, fault.Format, fault.Bytes())
			return
		}
		want := fromNode(req.Root)
		if want.measure() > safexml.MaxNodes {
			t.Fatal("too many nodes")
		}
		for _, again := range []string{want.xml(""), want.json(func() bool { return true })} {
			same(t, again, o, want)
		}
	})
}

func same(t *testing.T, body string, o wire.Options, want *tree) {
	t.Helper()
	req, fault := wire.Parse([]byte(body), o)
	if fault != nil {
		// The notations have the same limits, but different costs.
		if len(body) < wire.DefaultMaxBytes && want.measure() < 1000 && !want.oneSided() {
			t.Fatalf("%s refused: %s", body, fault.Text)
		}
		return
	}
	if got := fromNode(req.Root).String(); got != want.String() {
		t.Fatalf("\n got %s\nwant %s\nbody %s", got, want, body)
	}
}

func (t *tree) measure() int {
	n := 1
	for _, c := range t.children {
		n += c.measure()
	}
	return n
}

// oneSided reports whether JSON cannot represent the XML: it has equal names that are not adjacent,
// or names that are not ASCII.
func (t *tree) oneSided() bool {
	seen := map[string]int{}
	for i, c := range t.children {
		if last, ok := seen[c.name]; ok && last != i-1 || c.oneSided() {
			return true
		}
		if strings.ContainsFunc(c.name, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return true
		}
		seen[c.name] = i
	}
	return false
}

// document requires body to be one document of the format after a byte order mark.
func document(t *testing.T, f wire.Format, body []byte) {
	t.Helper()
	rest, ok := bytes.CutPrefix(body, []byte("\xef\xbb\xbf"))
	if !ok || !utf8.Valid(rest) {
		t.Fatalf("no byte order mark or not UTF-8: %q", body)
	}
	if f == wire.JSON {
		if !jsontext.Value(rest).IsValid() {
			t.Fatalf("not JSON: %q", body)
		}
		return
	}
	if _, reason := safexml.Parse(rest, 0); reason != "" {
		t.Fatalf("%s: %q", reason, body)
	}
}

// FuzzText requires that any text survives in either format of a response. Characters that a format
// cannot carry become replacement characters.
func FuzzText(f *testing.F) {
	f.Add("a<b>&\"'\\\r\n\t\u2028\x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		d := response("R", "", "Ok", "c", text, wire.TextElement("e", text))
		d.RefID = &text
		document(t, wire.XML, d.Bytes(wire.XML))
		document(t, wire.JSON, d.Bytes(wire.JSON))
		el, reason := safexml.Parse(d.Bytes(wire.XML), 0)
		if reason != "" {
			t.Fatal(reason)
		}
		var want []rune
		for _, r := range text {
			if !safexml.Allowed(r) {
				r = utf8.RuneError
			}
			want = append(want, r)
		}
		if got := el.ChildElements()[0].Text(); got != string(want) {
			t.Fatalf("got %q, want %q", got, string(want))
		}
		var back struct {
			RefID string `json:"refId"`
		}
		if err := json.Unmarshal(bytes.TrimPrefix(d.Bytes(wire.JSON), []byte("\xef\xbb\xbf")), &back); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(text)); back.RefID != want { // JSON carries every character
			t.Fatalf("JSON: got %q, want %q", back.RefID, want)
		}
	})
}
