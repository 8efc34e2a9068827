package standalone_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/causeway-pay/causeway/deploy/test/browser"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// axeScript runs axe-core in a page. It lists each violation with the first of its elements.
const axeScript = `axe.run({resultTypes: ["violations"]}).then((r) => r.violations.map((v) =>
  v.id + " (" + v.impact + "), " + v.nodes.length + " elements, such as " + v.nodes[0].target.join(" ")))`

// testDocsPassAxe runs axe-core on the reference and on each guide, at the widths of a desktop and
// of a phone, in light and dark. Colors and widths concern all guides alike, so one guide has all
// four combinations, and the others have two.
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
		for _, width := range []int64{1280, 390} {
			for _, scheme := range []string{"light", "dark"} {
				if i > 1 && (width == 1280) != (scheme == "light") {
					continue
				}
				show(t, b, width, scheme)
				for _, violation := range browser.Read[[]string](t, b, axeScript) {
					t.Errorf("%s, %s at %d: %s", page, scheme, width, violation)
				}
			}
		}
	}
	b.WantQuiet(t, p.HTTP)
}

// show lays the page out at a width, in a color scheme.
func show(t *testing.T, b *browser.Tab, width int64, scheme string) {
	t.Helper()
	b.Run(t, chromedp.EmulateViewport(width, 800),
		browser.Command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}))
}
