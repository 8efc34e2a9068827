package standalone_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/causeway-pay/causeway/deploy/test/browser"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// axeScript runs axe-core in a page, with the options that replace %s. It lists each violation with
// the first of its elements.
const axeScript = `axe.run(%s).then((r) => r.violations.map((v) =>
  v.id + " (" + v.impact + "), " + v.nodes.length + " elements, such as " + v.nodes[0].target.join(" ")))`

// sampleScript keeps only the first entries of each section, and the first lines of each table and
// list. The rules for colors take most of axe's time, and the other entries have the same colors.
const sampleScript = `(() => {
  const sections = "main section:not(#basics) article ~ article ~ article"
  for (const e of document.querySelectorAll(sections + ", tr ~ tr ~ tr, li ~ li ~ li")) e.remove();
})()`

// testDocsPassAxe runs axe-core on the reference and on each guide, at the widths of a desktop and
// of a phone, in light and dark. The whole reference is checked once, without the rules for colors,
// which wantFit applies to all of it.
func testDocsPassAxe(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	modules := programtest.MustInstallNode(t, "axe", absolute(t, "../browser/axe"))
	axe, err := os.ReadFile(filepath.Join(modules, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	const guides = `[...document.querySelectorAll('nav a[href^="/docs/guides/"]')].map((a) => a.pathname)`
	pages := append([]string{"/docs"}, browser.Read[[]string](t, b, guides)...)
	if len(pages) < 8 {
		t.Fatalf("pages = %q, want the reference and all guides", pages)
	}
	for i, page := range pages {
		b.Open(t, p.HTTP+page)
		b.Run(t, chromedp.Evaluate[chromedp.Void](string(axe)))
		if page == "/docs" {
			wantNoViolation(t, b, page, `{rules: {"color-contrast": {enabled: false}}}`)
			b.Run(t, chromedp.Evaluate[chromedp.Void](sampleScript))
		}
		for n, shown := range []struct {
			width  int64
			scheme string
		}{{1280, "light"}, {1280, "dark"}, {390, "light"}, {390, "dark"}} {
			if i > 1 && n != i%4 {
				continue // all guides have one style sheet, so the later ones take turns
			}
			show(t, b, shown.width, shown.scheme)
			wantNoViolation(t, b, fmt.Sprintf("%s, %s at %d", page, shown.scheme, shown.width), "")
		}
	}
	b.WantQuiet(t, p.HTTP)
}

// wantNoViolation runs axe-core on the open page.
func wantNoViolation(t *testing.T, b *browser.Tab, page, options string) {
	t.Helper()
	for _, violation := range browser.Read[[]string](t, b, fmt.Sprintf(axeScript, options)) {
		t.Errorf("%s: %s", page, violation)
	}
}

// show lays the page out at a width, in a color scheme.
func show(t *testing.T, b *browser.Tab, width int64, scheme string) {
	t.Helper()
	b.Run(t, chromedp.EmulateViewport(width, 800),
		browser.Command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}))
}
