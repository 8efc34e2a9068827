package standalone_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/causeway-pay/causeway/deploy/test/browser"
)

// testDocsSearch searches for words of other services. It checks that no heading of the contents
// stands over an empty list, and that a search without a result shows how to go on.
func testDocsSearch(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	const visible = ".filter((e) => e.checkVisibility())"
	const entries = "[...document.querySelectorAll('main article')]" + visible + ".map((e) => e.id).join(' ')"
	const orphans = "[...document.querySelectorAll('nav .group')]" + visible +
		".filter((e) => !document.querySelector('[aria-labelledby=' + e.id + '] li:not([hidden])'))" +
		".map((e) => e.id).join(' ')"
	for query, want := range map[string]string{
		"cors": "guide-browser conventions", "3ds": "guide-browser createTransaction",
		"save card": "guide-save-a-card attachPaymentMethod", "CVV": "cards", "cancel": "guide-refunds voidTransaction",
		"token_used": "errors", "partial refund": "guide-refunds", "authorize.net": "start",
	} {
		b.Run(t, chromedp.KeyEvent("/"), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(query))
		got := strings.Fields(browser.Read[string](t, b, entries))
		for _, entry := range strings.Fields(want) {
			if !slices.Contains(got, entry) {
				t.Errorf("%s: found %q, want %s among them", query, got, entry)
			}
		}
		if got := browser.Read[string](t, b, orphans); got != "" {
			t.Errorf("%s: the contents have headings without entries: %s", query, got)
		}
	}
	b.Open(t, p.HTTP+"/docs?q=token_used") // as from the page of a guide
	const lines = "[...document.querySelectorAll('#errors tbody tr')]" + visible + ".map((e) => e.id).join(' ')"
	if got, want := browser.Read[string](t, b, lines), "error-token_used"; got != want {
		t.Errorf("the errors that the search shows: got %q, want %q", got, want)
	}
	b.Run(t, chromedp.KeyEvent("/"), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("zzz"))
	got := browser.Read[string](t, b, "document.querySelector('main').innerText")
	if !strings.Contains(got, "No entry has these words") {
		t.Errorf("without a result the page shows %q", got)
	}
	b.Run(t, chromedp.Evaluate[chromedp.Void]("document.getElementById('all').click()"))
	if got := browser.Read[string](t, b, entries); !strings.HasPrefix(got, "guide-first-payment guide-browser ") {
		t.Errorf("after the button the page shows %q, want all entries", got)
	}
	b.WantQuiet(t, p.HTTP)
}
