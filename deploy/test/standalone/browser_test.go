package standalone_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestBrowser runs all tests in a real browser, each with separate cookies and storage. They share
// one server, but a test that changes its server starts another. .ci/test installs the browser.
// Where it cannot, it skips this test and prints the reason.
func TestBrowser(t *testing.T) {
	t.Parallel()
	p, browser := start(t, t.TempDir()), startBrowser(t)
	for name, test := range map[string]func(*testing.T, *tab, *process){
		"DocsIsComplete": testDocsIsComplete, "DocsFitsItsReader": testDocsFitsItsReader,
		"DocsByKeyboard": testDocsByKeyboard, "DocsCopiesByKeyboard": testDocsCopiesByKeyboard,
		"DocsLinksLeadThere": testDocsLinksLeadThere, "DocsKeepsNoKey": testDocsKeepsNoKey,
		"SignatureExample": testSignatureExample, "Addresses": testAddresses,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := browser.openTab(t)
			b.openDocs(t, p)
			test(t, b, p)
		})
	}
	t.Run("ExamplesWork", func(t *testing.T) {
		t.Parallel()
		changed, b := start(t, t.TempDir()), browser.openTab(t)
		b.openDocs(t, changed)
		testExamplesWork(t, b, changed)
	})
	t.Run("OtherOrigin", func(t *testing.T) {
		t.Parallel()
		testOtherOrigin(t, browser.openTab(t), start(t, t.TempDir(), "--rate-limit", "1000"))
	})
}

// tab is a page of a browser context, which can connect only to this machine.
type tab struct {
	ctx context.Context //nolint:containedctx // chromedp keeps the browser's state in it, so it is the tab

	mu       sync.Mutex
	requests []string // the URLs of the page; guarded by mu
	faults   []string // errors, exceptions and violations of the policy, as in the console; guarded by mu
}

// startBrowser starts a browser and returns its first page. The end of the test stops it.
func startBrowser(t *testing.T) *tab {
	t.Helper()
	path := browserPath(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-component-update", true),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the sandbox refuses to run as root
	}
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, leave := chromedp.NewContext(ctx)
	t.Cleanup(leave)
	b := &tab{ctx: ctx}
	b.run(t)
	return b
}

// openTab opens a page in a new context of the browser. The end of the test closes it.
func (b *tab) openTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*patience)
	t.Cleanup(cancel)
	ctx, leave := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	opened := &tab{ctx: ctx}
	t.Cleanup(leave)
	if err := chromedp.Listen(ctx, opened.listen); err != nil {
		t.Fatal(err)
	}
	opened.run(t, command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}),
		command(runtime.Enable, cdp.Empty{}),
		command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	return opened
}

// command returns a command of the protocol that ignores its result.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
}

func browserPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no chromium on PATH: install it (Debian: apt-get install chromium), or run make test, which does")
	return ""
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.faults = append(b.faults, string(e.Entry.Source)+": "+e.Entry.Text)
		}
	case *runtime.EventConsoleAPICalled:
		b.faults = append(b.faults, "console: "+string(e.Type))
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Text)
	}
}

// run runs actions of a user in the browser.
func (b *tab) run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// open opens a URL and returns when it has loaded completely.
func (b *tab) open(t *testing.T, address string) {
	t.Helper()
	b.run(t, chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("body")))
}

// read evaluates an expression in the page, and awaits a promise.
func read[T any](t *testing.T, b *tab, expression string) T {
	t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%v: %s", err, expression)
	}
	return out
}

// wantQuiet checks that the page logged no fault and sent requests only to its own server.
func (b *tab) wantQuiet(t *testing.T, origin string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		t.Errorf("the page reports %s", fault)
	}
	for _, r := range b.requests {
		if u, err := url.Parse(r); err != nil || u.Scheme != "data" && u.Scheme+"://"+u.Host != origin {
			t.Errorf("a request left for %s", r)
		}
	}
	if len(b.requests) == 0 {
		t.Error("no request was seen, not even that for the page")
	}
}

// sent returns the number of requests of the page.
func (b *tab) sent() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.requests)
}

// allowClipboard lets the page's buttons write to the clipboard, as a browser does after a click.
func (b *tab) allowClipboard(t *testing.T, origin string) {
	t.Helper()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		b.run(t, command(browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted, Origin: origin,
			BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		}))
	}
}

// screenshot writes a picture of the page, if the test has a folder for it.
func (b *tab) screenshot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("CAUSEWAY_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".png"), picture, 0o600); err != nil {
		t.Error(err)
	}
}
