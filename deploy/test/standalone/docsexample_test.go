package standalone_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/causeway-pay/causeway/deploy/test/browser"
	"github.com/causeway-pay/causeway/shared/clock"
)

// reported makes curl print the status of each response on stderr, in addition to its output.
const reported = `curl() { command curl --max-time 50 -w '%{stderr}status %{http_code}\n' "$@"; }
`

// paste runs a text in a shell, like a pasted one. It returns the status of its last request and
// its output.
func paste(t *testing.T, text string) (status, stdout string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", reported+text)
	var out, report strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &report
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %s\n%s", err, report.String(), text)
	}
	statuses := strings.Split(strings.TrimSpace(report.String()), "\n")
	return strings.TrimPrefix(statuses[len(statuses)-1], "status "), out.String()
}

// testExamplesWork runs every request that /docs shows after it has a test key.
func testExamplesWork(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	b.Run(t, chromedp.SendKeys(chromedp.CSS("#key"), p.Keys.SKTest))
	type example struct{ Name, Status, Text string }
	list := browser.Read[[]example](t, b,
		"[...document.querySelectorAll('pre.shell')].map((e) => ({Name: e.getAttribute('aria-label'), Status: "+
			"e.dataset.status, Text: e.textContent}))")
	if got, want := len(list), len(operations(t, p))+3; got != want {
		t.Errorf("examples = %d, want %d: one for each endpoint and three in the guide", got, want)
	}
	for _, e := range list {
		if strings.HasSuffix(e.Name, "/challenge") {
			continue // its encrypted response needs the merchant's private key
		}
		status, out := paste(t, e.Text)
		if status != e.Status || strings.TrimSpace(out) == "" {
			t.Errorf("%s: got %s %s, want %s; pasted:\n%s", e.Name, status, out, e.Status, e.Text)
		}
	}
}

// testSignatureExample lets the page's JavaScript verify signatures by Standard Webhooks.
func testSignatureExample(t *testing.T, b *browser.Tab, _ *process) {
	t.Helper()
	code := browser.Read[string](t, b, "document.getElementById('verify').textContent")
	key := []byte("a signing key of thirty-two bytes")
	body := `{"id":"evt_1","type":"transaction.captured","text":"schön"}`
	now := clock.System().Now().Unix()
	sign := func(at int64) string {
		mac := hmac.New(sha256.New, key)
		mac.Write(fmt.Appendf(nil, "msg_1.%d.%s", at, body))
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	for name, c := range map[string]struct {
		at              int64
		signature, body string
		want            bool
	}{
		"right":              {now, sign(now), body, true},
		"second of two":      {now, "v1,AAAA " + sign(now), body, true},
		"other body":         {now, sign(now), body + " ", false},
		"other time":         {now - 1, sign(now), body, false},
		"replayed":           {now - 600, sign(now - 600), body, false},
		"no signature":       {now, "", body, false},
		"of another version": {now, strings.Replace(sign(now), "v1,", "v1a,", 1), body, false},
	} {
		script := fmt.Sprintf("%s\nconsole.log(verify(%q, {\"webhook-id\": \"msg_1\", \"webhook-timestamp\": %q, "+
			"\"webhook-signature\": %q}, %s));",
			code, "whsec_"+base64.StdEncoding.EncodeToString(key), strconv.FormatInt(c.at, 10), c.signature, "`"+c.body+"`")
		out, err := exec.CommandContext(t.Context(), "node", "-e", script).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != strconv.FormatBool(c.want) {
			t.Errorf("%s: got %s, %v, want %t", name, got, err, c.want)
		}
	}
}
