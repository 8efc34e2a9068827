// Package browser drives a real browser for tests. .ci/test installs it.
package browser

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

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Tab is a page of a browser context, which can connect only to this machine.
type Tab struct {
	ctx context.Context //nolint:containedctx // chromedp keeps the browser's state in it, so it is the tab

	mu       sync.Mutex
	requests []string // the URLs of the page; guarded by mu
	faults   []string // errors, exceptions and violations of the policy, as in the console; guarded by mu
}

// Start starts a browser and returns its first page. The end of the test stops it. Each address is a
// rule such as "MAP api.example.com:443 127.0.0.2:8443". The certificates of such servers are not
// verified.
func Start(t *testing.T, addresses ...string) *Tab {
	t.Helper()
	path, rules := browserPath(t), "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
	for _, a := range addresses {
		rules = a + ", " + rules
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("host-resolver-rules", rules),
		chromedp.Flag("disable-component-update", true),
	)
	if len(addresses) > 0 {
		options = append(options, chromedp.Flag("ignore-certificate-errors", true))
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the sandbox refuses to run as root
	}
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, leave := chromedp.NewContext(ctx)
	t.Cleanup(leave)
	b := &Tab{ctx: ctx}
	b.Run(t)
	return b
}

// NewTab opens a page in a new context of the browser. The end of the test closes it.
func (b *Tab) NewTab(t *testing.T) *Tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*programtest.Patience)
	t.Cleanup(cancel)
	ctx, leave := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	opened := &Tab{ctx: ctx}
	t.Cleanup(leave)
	if err := chromedp.Listen(ctx, opened.listen); err != nil {
		t.Fatal(err)
	}
	opened.Run(t, Command(network.Enable, network.EnableParams{}), Command(log.Enable, cdp.Empty{}),
		Command(runtime.Enable, cdp.Empty{}),
		Command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	return opened
}

// Command returns a command of the protocol that ignores its result.
func Command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
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

func (b *Tab) listen(event any) {
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

// Run runs actions of a user in the browser.
func (b *Tab) Run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// Open opens a URL and returns when it has loaded completely.
func (b *Tab) Open(t *testing.T, address string) {
	t.Helper()
	b.Run(t, chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("body")))
}

// Read evaluates an expression in the page, and awaits a promise.
func Read[T any](t *testing.T, b *Tab, expression string) T {
	t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%v: %s", err, expression)
	}
	return out
}

// WantQuiet checks that the page logged no fault and sent requests only to its own server.
func (b *Tab) WantQuiet(t *testing.T, origin string) {
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

// Sent returns the number of requests of the page.
func (b *Tab) Sent() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.requests)
}

// AllowClipboard lets the page's buttons write to the clipboard, as a browser does after a click.
func (b *Tab) AllowClipboard(t *testing.T, origin string) {
	t.Helper()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		b.Run(t, Command(browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted, Origin: origin,
			BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		}))
	}
}

// Screenshot writes a picture of the page, if the test has a folder for it.
func (b *Tab) Screenshot(t *testing.T, name string) {
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
