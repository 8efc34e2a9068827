package standalone_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/browser"
)

// openDocs opens /docs of a service.
func openDocs(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	b.Run(t, chromedp.EmulateViewport(1200, 800))
	b.Open(t, p.HTTP+"/docs")
}

func testDocsIsComplete(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	b.Screenshot(t, "docs 1200")
	for _, e := range operations(t, p) {
		const heading = "document.getElementById(%q)?.querySelector('h3').innerText ?? ''"
		got := browser.Read[string](t, b, fmt.Sprintf(heading, e.id))
		if want := e.method + " " + e.path; got != want {
			t.Errorf("%s: heading = %q, want %q", e.id, got, want)
		}
		if n := browser.Read[int](t, b, fmt.Sprintf("document.querySelectorAll('#%s pre.shell').length", e.id)); n != 1 {
			t.Errorf("%s: examples = %d, want 1", e.id, n)
		}
	}
	cards := browser.Read[string](t, b, "document.getElementById('cards').innerText")
	catalogue, err := os.ReadFile("../../../configs/simulator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^  - \{(?:payment_method: (\w+), )?number: "(\d+)"`).
		FindAllStringSubmatch(string(catalogue), -1) {
		if !strings.Contains(cards, m[1]) || !strings.Contains(cards, m[2]) {
			t.Errorf("the page lacks the test card %s %s", m[1], m[2])
		}
	}
	values := catalogueValue.FindAllStringSubmatch(string(catalogue), -1)
	if len(values) < 20 {
		t.Errorf("values = %d, want 20 or more: has the catalogue another form now?", len(values))
	}
	for _, m := range values {
		if value := strings.Join(m[1:], ""); !strings.Contains(cards, value) {
			t.Errorf("the page lacks the test value %s", value)
		}
	}
	b.WantQuiet(t, p.HTTP)
}

// catalogueValue matches the simulator's triggers other than cards: codes, amounts, accounts and
// their limit.
var catalogueValue = regexp.MustCompile(`(?m)^  "(\d+)": \{|^  - \{operation: \w+, amount: (\d+)|^  - ` +
	`\{account_number: "(\d+)"|^bank_account_limit: \{amount: (\d+)`)

// operation is an endpoint of the served contract.
type operation struct{ id, method, path string }

func operations(t *testing.T, p *process) []operation {
	t.Helper()
	body := merchantOf(t, p).must(t, http.MethodGet, "/v1/openapi.json", "", "").body
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	var out []operation
	for path, item := range doc.Paths {
		for method, op := range item {
			if fields, ok := op.(map[string]any); ok {
				out = append(out, operation{fields["operationId"].(string), strings.ToUpper(method), path})
			}
		}
	}
	if len(out) < 40 {
		t.Fatalf("operations = %d, want 40 or more", len(out))
	}
	return out
}

func testDocsFitsItsReader(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	wantFit(t, b, "docs", 320, 390, 768, 1200)
	b.Run(t, chromedp.Evaluate[chromedp.Void]("document.getElementById('createTransaction').scrollIntoView()"))
	b.Screenshot(t, "docs create")
	b.WantQuiet(t, p.HTTP)
}

func testGuideFitsItsReader(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	b.Open(t, p.HTTP+"/docs/guides/browser")
	wantFit(t, b, "guide", 390, 1280)
	got := browser.Read[string](t, b, "document.querySelector('pre.shell').textContent")
	if !strings.Contains(got, p.HTTP) {
		t.Errorf("the first commands are %q, want this server's address in them", got)
	}
	b.WantQuiet(t, p.HTTP)
}

// wantFit checks the width, the contrast and the structure of a page, in light and dark.
func wantFit(t *testing.T, b *browser.Tab, name string, widths ...int64) {
	t.Helper()
	for _, width := range widths {
		for _, scheme := range []string{"light", "dark"} {
			show(t, b, width, scheme)
			if wide := browser.Read[int](t, b, "document.documentElement.scrollWidth"); int64(wide) > width {
				t.Errorf("at %d the page is %d wide", width, wide)
			}
			for _, low := range browser.Read[[]string](t, b, contrastScript) {
				t.Errorf("%s at %d: contrast too low: %s", scheme, width, low)
			}
			b.Screenshot(t, fmt.Sprintf("%s %s %d", name, scheme, width))
		}
	}
	for _, fault := range browser.Read[[]string](t, b, structureScript) {
		t.Error(fault)
	}
}

// contrastScript lists the texts whose contrast with their background is below 4.5 (WCAG 2.2 AA).
const contrastScript = `(() => {
  const rgb = (c) => { const n = c.match(/[\d.]+/g).map(Number); return n.length > 3 && n[3] === 0 ? null : n; };
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => { const [r, g, b] = c.map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (e) => {
    for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c) return c; }
    return [255, 255, 255]; };
  const low = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.checkVisibility()) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const text = walk.currentNode.data.trim().slice(0, 40);
    if (ratio < 4.5) low.set(e.tagName + "." + e.className, ratio.toFixed(2) + " " + text);
  }
  return [...low].map(([k, v]) => k + " " + v);
})()`

// structureScript lists obstacles for users of a screen reader.
const structureScript = `(() => {
  const faults = [], all = (s) => [...document.querySelectorAll(s)];
  const name = (e) => e.getAttribute("aria-label") || e.textContent.trim() ||
    (e.labels && e.labels[0] && e.labels[0].textContent);
  if (document.documentElement.lang !== "en") faults.push("no language");
  if (!document.title) faults.push("no title");
  for (const s of ["header", "nav[aria-label]", "main", "h1"])
    if (all("body " + s).length !== 1) faults.push(all("body " + s).length + " of " + s);
  let level = 0;
  for (const h of all("h1, h2, h3, h4")) {
    const n = +h.tagName[1];
    if (n > level + 1) faults.push("heading jumps: " + h.textContent);
    level = n;
  }
  const ids = all("[id]").map((e) => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push("id twice: " + id);
  for (const a of all("a[href^='#']"))
    if (!document.getElementById(a.hash.slice(1))) faults.push("dead link: " + a.hash);
  for (const e of all("a, button, input")) if (!name(e)) faults.push("no name: " + e.outerHTML);
  for (const t of all("table")) if (!t.caption || t.querySelector("th:not([scope])"))
    faults.push("table without caption or scopes: " + t.textContent.slice(0, 40));
  for (const e of all("pre, .wide")) if (e.tabIndex !== 0 || !e.getAttribute("aria-label"))
    faults.push("scrolls, but not by keyboard: " + e.textContent.slice(0, 40));
  for (const e of all("[tabindex]")) if (e.tabIndex > 0) faults.push("positive tabindex: " + e.outerHTML.slice(0, 40));
  return faults;
})()`

// focused returns the focused element: its id, or its text without one.
func focused(t *testing.T, b *browser.Tab) string {
	t.Helper()
	return browser.Read[string](t, b, "document.activeElement.id || document.activeElement.textContent")
}

func testDocsByKeyboard(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	b.Run(t, chromedp.KeyEvent(kb.Tab))
	if got, want := focused(t, b), "Skip to the content"; got != want {
		t.Errorf("first stop = %q, want %q", got, want)
	}
	b.Run(t, chromedp.KeyEvent(kb.Enter))
	if got, want := focused(t, b), "main"; got != want {
		t.Errorf("after skipping = %q, want %q", got, want)
	}
	b.Run(t, chromedp.KeyEvent("/"))
	if got, want := focused(t, b), "search"; got != want {
		t.Errorf("after / = %q, want %q", got, want)
	}
	b.Run(t, chromedp.KeyEvent(kb.Escape)) // the test types the /, which a real keyboard does not: the page suppresses it
	const shown = "[...document.querySelectorAll('article.endpoint')].filter((a) => a.checkVisibility()).map((a) => " +
		"a.id).join(' ')"
	all := browser.Read[string](t, b, shown)
	b.Run(t, chromedp.KeyEvent("redeliver enabled"))
	if got, want := browser.Read[string](t, b, shown), "redeliverEvent"; got != want {
		t.Errorf("found = %q, want %q", got, want)
	}
	if got, want := browser.Read[string](t, b, "document.getElementById('found').textContent"), "2 entries"; got != want {
		t.Errorf("said = %q, want %q", got, want)
	}
	b.Run(t, chromedp.KeyEvent(kb.Escape))
	if got := browser.Read[string](t, b, shown); got != all {
		t.Errorf("after Escape = %q, want all", got)
	}
	b.Run(t, chromedp.KeyEvent(kb.Tab)) // the first link of the contents
	if got, want := focused(t, b), "Make a first payment"; got != want {
		t.Errorf("after the search = %q, want %q", got, want)
	}
	b.Run(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('nav a[href="#start"]').focus()`),
		chromedp.KeyEvent(kb.Enter))
	if got, want := browser.Read[string](t, b, "location.hash"), "#start"; got != want {
		t.Errorf("followed = %q, want %q", got, want)
	}
	b.WantQuiet(t, p.HTTP)
}

func testDocsCopiesByKeyboard(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	b.AllowClipboard(t, p.HTTP)
	b.Run(t, chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter)) // past the contents
	for range 40 {                                                   // past the guides and the links to the first button
		if strings.HasPrefix(focused(t, b), "Copy") {
			break
		}
		b.Run(t, chromedp.KeyEvent(kb.Tab))
	}
	b.Run(t, chromedp.KeyEvent(kb.Enter), chromedp.Poll[chromedp.Void]("document.activeElement.textContent === 'Copied'"))
	copied := browser.Read[string](t, b, "navigator.clipboard.readText()")
	if !strings.HasPrefix(copied, "curl -sS "+p.HTTP+"/v1/transactions") {
		t.Errorf("copied = %q, want the first example with this server's address", copied)
	}
	b.WantQuiet(t, p.HTTP)
}

func testDocsLinksLeadThere(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	for _, e := range operations(t, p) {
		b.Run(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector('nav a[href=\"#%s\"]').click()", e.id)))
		if top := browser.Read[float64](t, b,
			fmt.Sprintf("document.getElementById(%q).getBoundingClientRect().top", e.id)); top < -1 || top > 800 {
			t.Errorf("the link to %s leads to %.0f pixels from it", e.id, top)
		}
	}
	b.WantQuiet(t, p.HTTP)
}

func testDocsKeepsNoKey(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	const examples = "document.querySelector('#createTransaction pre').textContent"
	before := b.Sent()
	b.Run(t, chromedp.SendKeys(chromedp.CSS("#key"), p.Keys.SKTest))
	if got := browser.Read[string](t, b, examples); !strings.Contains(got, p.Keys.SKTest) {
		t.Errorf("example = %s, want the key in it", got)
	}
	kept := browser.Read[string](t, b,
		"JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, history.state])")
	if strings.Contains(kept, "sk_test_") {
		t.Errorf("kept: %s", kept)
	}
	if got := b.Sent(); got != before {
		t.Errorf("requests = %d, want %d: typing a key sends nothing", got, before)
	}
	b.Run(t, chromedp.Reload(), chromedp.WaitReady(chromedp.CSS("body")))
	const shown = examples + " + document.getElementById('key').value"
	if got := browser.Read[string](t, b, shown); strings.Contains(got, p.Keys.SKTest) {
		t.Error("the key outlived a reload")
	}
	b.Run(t, chromedp.SendKeys(chromedp.CSS("#key"), p.Keys.SKLive))
	if got := browser.Read[string](t, b, shown); strings.Contains(got, "sk_live_") {
		t.Errorf("a live key stands in the page: %s", got)
	}
	b.WantQuiet(t, p.HTTP)
}

// testAddresses opens the addresses in the greeting and the documents.
func testAddresses(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	for path, want := range addresses(t) {
		b.Open(t, p.HTTP+path)
		if got := browser.Read[int](t, b, "performance.getEntriesByType('navigation')[0].responseStatus"); got != 200 {
			t.Errorf("%s: status = %d, want 200", path, got)
		}
		got := strings.ReplaceAll(browser.Read[string](t, b, "document.body.innerText"), `": "`, `":"`)
		if !strings.Contains(got, want) {
			t.Errorf("%s shows %.200q, want %q in it", path, got, want)
		}
	}
}

// TestDocsSayTheSameWithoutAScript checks that the page is complete without its script.
func TestDocsSayTheSameWithoutAScript(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.HTTP+"/docs", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // it was read
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range operations(t, p) {
		if !strings.Contains(string(body), `id="`+e.id+`"`) {
			t.Errorf("the page lacks %s", e.id)
		}
	}
}
