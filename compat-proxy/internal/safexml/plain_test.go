package safexml_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

// agree wants that a document which is read the short way is read the same the long way.
func agree(t *testing.T, body []byte) (plain bool) {
	t.Helper()
	if _, reason := safexml.Scan(body); reason != "" {
		return false
	}
	got := safexml.Plain(body)
	if got == nil {
		return false
	}
	want, err := safexml.Stream(body)
	if err != nil {
		t.Fatalf("plain takes what the stream refuses with %v: %q", err, body)
	}
	if !reflect.DeepEqual(normal(got), normal(want)) {
		t.Fatalf("%q\n got %s\nwant %s", body, dump(got), dump(want))
	}
	return true
}

// normal replaces empty lists of children by nil, because the two readers differ in that.
func normal(el *safexml.Element) *safexml.Element {
	out := *el
	out.Children = nil
	for _, c := range el.Children {
		out.Children = append(out.Children, normal(c))
	}
	return &out
}

func TestPlainAgreesWithTheStream(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`<a/>`:                          true,
		"<?xml version=\"1.0\"?>\n<a/>": true,
		`<a xmlns="u" xmlns:xsi="v"><b>t</b> <c />` + "\n</a> ": true,
		"<a>\n <b>Wåhlin > x</b></a>":                           true,
		`<a>x<b/></a>`:                                          true,
		`<a> <b/> </a>`:                                         true,
		"<a> </a>":                                              true,
		"<a\n\txmlns=\"u\"\n></a>":                              true,
		`<a>x<b/>y</a>`:                                         false,
		`<a>&amp;</a>`:                                          false,
		`<a>]]></a>`:                                            false,
		`<a><!-- --></a>`:                                       false,
		`<a b="1"/>`:                                            false,
		`<a xmlns=''/>`:                                         false,
		`<a xmlns="u" xmlns="v"/>`:                              false,
		`<a xmlns:xml="u"/>`:                                    false,
		`<p:a xmlns:p="u"/>`:                                    false,
		`<a xmlns="http://www.w3.org/XML/1998/namespace"/>`: false,
		`<a></ax`:                    false,
		"<a>\r\n</a>":                false,
		`<a></b>`:                    false,
		`<a/><b/>`:                   false,
		`<a`:                         false,
		`<a/`:                        false,
		`<a x`:                       false,
		`<a xmlns="u`:                false,
		`</a>`:                       false,
		`x<a/>`:                      false,
		`<1/>`:                       false,
		`<a></a`:                     false,
		``:                           false,
		` <?xml version="1.0"?><a/>`: false,
		`<?xml version="1.1"?><a/>`:  false,
	} {
		if got := agree(t, []byte(body)); got != want {
			t.Errorf("%q: plain %t, want %t", body, got, want)
		}
	}
	for name, c := range refused {
		if agree(t, []byte(c.body)) {
			t.Errorf("%s: is read the short way and must be refused", name)
		}
	}
}

// TestExamplesArePlain: plain reads the dialect's own examples.
func TestExamplesArePlain(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Glob("../providera/testdata/*/request.xml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	plain := 0
	for _, path := range examples {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if agree(t, body) {
			plain++
		}
	}
	if plain < len(examples)*9/10 {
		t.Errorf("plain: got %d of %d examples, want nine in ten", plain, len(examples))
	}
}

// TestOneTree is not parallel, because it counts allocations. A document that is not plain because
// of its end costs only one tree.
func TestOneTree(t *testing.T) {
	body := []byte("<a>" + strings.Repeat("<b><c/></b>", 1000) + "<!-- --></a>")
	read := func(read func([]byte) (*safexml.Element, error)) float64 {
		return testing.AllocsPerRun(10, func() {
			if _, err := read(body); err != nil {
				t.Fatal(err)
			}
		})
	}
	one := read(safexml.Stream)
	both := read(func(body []byte) (*safexml.Element, error) { return safexml.Parse(body, 0) })
	if both > one+5 {
		t.Errorf("got %v allocations, want about %v", both, one)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte(`<?xml version="1.0" encoding="utf-8"?><a xmlns="u" xmlns:x="v"> <c>t</c>x<d/></a>`))
	f.Add([]byte(`<a xmlns="u">]<b xmlns="v">ö</b ></a>`))
	f.Fuzz(func(t *testing.T, body []byte) { agree(t, body) })
}
