package wire_test

import (
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

func TestEscaping(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, xml, json string }{
		"markup":       {`<a> & "b" 'c'`, `&lt;a&gt; &amp; "b" 'c'`, `<a> & \"b\" 'c'`},
		"entity text":  {"&#39;v&#39;", "&amp;#39;v&amp;#39;", "&#39;v&#39;"},
		"backslash":    {`a\b/c`, `a\b/c`, `a\\b/c`},
		"white space":  {"a\tb\nc\rd", "a\tb\nc&#xD;d", `a\tb\nc\rd`},
		"control":      {"\x00\x1f\b\f", "\ufffd\ufffd\ufffd\ufffd", `\u0000\u001f\b\f`},
		"wide":         {"Wåhlin €", "Wåhlin €", "Wåhlin €"},
		"separators":   {"\u0085\u2028\u2029", "\u0085\u2028\u2029", `\u0085\u2028\u2029`},
		"bad utf-8":    {"a\xffb", "a\ufffdb", "a\ufffdb"},
		"noncharacter": {"\uffff", "\ufffd", "\uffff"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := wire.Document{Root: "R", ResultCode: wire.ResultOK, Messages: []wire.Message{{Code: "c", Text: tt.in}}}
			head := "\xef\xbb\xbf" + `<?xml version="1.0" encoding="utf-8"?><R ` +
				`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"` +
				` xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns="` + ns +
				`"><messages><resultCode>Ok</resultCode><message><code>c</code><text>`
			if got, want := string(d.Bytes(wire.XML)), head+tt.xml+"</text></message></messages></R>"; got != want {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
			want := "\xef\xbb\xbf" + `{"messages":{"resultCode":"Ok","message":[{"code":"c","text":"` + tt.json + `"}]}}`
			if got := string(d.Bytes(wire.JSON)); got != want {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
		})
	}
}

func TestEmptyAndOrder(t *testing.T) {
	t.Parallel()
	first := wire.TextElement("derived", "d")
	first.Depth = 1
	d := response("R", "", "Ok", "c", "t",
		wire.GroupElement("emptyGroup"), wire.ListElement("emptyList"), wire.TextElement("emptyText", ""),
		wire.GroupElement("onlyJSON", supplemental()),
		wire.GroupElement("order", wire.TextElement("base", "b"), first),
		wire.GroupElement("allFirst", first),
	)
	const wantXML = "<refId /><messages><resultCode>Ok</resultCode><message><code>c</code><text>t</text></message>" +
		"</messages>" +
		"<emptyGroup /><emptyList /><emptyText /><onlyJSON /><order><base>b</base><derived>d</derived></order>" +
		"<allFirst><derived>d</derived></allFirst></R>"
	got := string(d.Bytes(wire.XML))
	if got = got[len(got)-len(wantXML):]; got != wantXML {
		t.Errorf("\n got %s\nwant %s", got, wantXML)
	}
	const wantJSON = "\xef\xbb\xbf" + `{"emptyGroup":{},"emptyList":[],"emptyText":"","onlyJSON":` +
		`{"SupplementalDataQualificationIndicator":0},` +
		`"order":{"derived":"d","base":"b"},"allFirst":{"derived":"d"},"refId":"",` +
		`"messages":{"resultCode":"Ok","message":[{"code":"c","text":"t"}]}}`
	if got := string(d.Bytes(wire.JSON)); got != wantJSON {
		t.Errorf("\n got %s\nwant %s", got, wantJSON)
	}
}

func TestContentType(t *testing.T) {
	t.Parallel()
	for f, want := range map[wire.Format]string{
		wire.XML: "application/xml; charset=utf-8", wire.JSON: "application/json; charset=utf-8",
	} {
		if got := wire.ContentType(f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
