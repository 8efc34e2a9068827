package standalone_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// testDocsSearch searches for words of other services. It checks that no heading of the contents
// stands over an empty list, and that a search without a result shows how to go on.
func testDocsSearch(t *testing.T, b *tab, p *process) {
	t.Helper()
	const visible = ".filter((e) => e.checkVisibility())"
	const entries = "[...document.querySelectorAll('main article')]" + visible + ".map((e) => e.id).join(' ')"
	const orphans = "[...document.querySelectorAll('nav .group')]" + visible +
		".filter((e) => !document.querySelector('[aria-labelledby=' + e.id + '] li:not([hidden])'))" +
		".map((e) => e.id).join(' ')"
	for query, want := range map[string]string{
		"cors": "start", "3ds": "createTransaction", "save card": "attachPaymentMethod", "CVV": "cards",
		"cancel": "voidTransaction",
	} {
		b.run(t, chromedp.KeyEvent("/"), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(query))
		if got := read[string](t, b, entries); !strings.Contains(" "+got+" ", " "+want+" ") {
			t.Errorf("%s: found %q, want %s among them", query, got, want)
		}
		if got := read[string](t, b, orphans); got != "" {
			t.Errorf("%s: the contents have headings without entries: %s", query, got)
		}
	}
	b.run(t, chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("zzz"))
	got := read[string](t, b, "document.querySelector('main').innerText")
	if !strings.Contains(got, "No entry has these words") {
		t.Errorf("without a result the page shows %q", got)
	}
	b.run(t, chromedp.Evaluate[chromedp.Void]("document.getElementById('all').click()"))
	if got := read[string](t, b, entries); !strings.HasPrefix(got, "start authentication ") {
		t.Errorf("after the button the page shows %q, want all entries", got)
	}
	b.wantQuiet(t, p.HTTP)
}
