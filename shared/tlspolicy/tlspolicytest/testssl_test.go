package tlspolicytest_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/tlspolicy/tlspolicytest"
)

// TestFlaws reads the findings of testssl.sh for the standalone, and then with one line each made
// worse.
func TestFlaws(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/testssl-3.0.8.json")
	if err != nil {
		t.Fatal(err)
	}
	var good []tlspolicytest.Finding
	if err := json.Unmarshal(text, &good); err != nil {
		t.Fatal(err)
	}
	if got := tlspolicytest.Flaws(good); got != nil {
		t.Errorf("got %q, want none", got)
	}
	with := func(f tlspolicytest.Finding) []tlspolicytest.Finding {
		others := slices.DeleteFunc(slices.Clone(good), func(g tlspolicytest.Finding) bool { return g.ID == f.ID })
		if f.Severity == "" {
			return others
		}
		return append(others, f)
	}
	tests := []struct {
		finding tlspolicytest.Finding
		want    string // the begin of the flaw
	}{
		{tlspolicytest.Finding{ID: "TLS1_1", Severity: "LOW", Text: "offered (deprecated)"}, "TLS1_1: offered"},
		{tlspolicytest.Finding{ID: "TLS1_3", Severity: "INFO", Text: "not offered"}, "TLS1_3: not offered"},
		{tlspolicytest.Finding{ID: "cipherlist_AVERAGE", Severity: "LOW", Text: "offered"}, "cipherlist_AVERAGE: offered"},
		{tlspolicytest.Finding{ID: "cipherlist_AVERAGE"}, "cipherlist_AVERAGE or cipherlist_OBSOLETED: not said"},
		{tlspolicytest.Finding{ID: "LUCKY13", Severity: "LOW", Text: "potentially vulnerable"}, "LUCKY13: potentially"},
		{tlspolicytest.Finding{ID: "HSTS_time"}, "HSTS_time: not said"},
		{tlspolicytest.Finding{ID: "HSTS_time", Severity: "LOW", Text: "too short"}, "HSTS_time: too short"},
		{tlspolicytest.Finding{ID: "something_new", Severity: "HIGH", Text: "bad"}, "something_new is HIGH: bad"},
		{tlspolicytest.Finding{ID: "scanProblem", Severity: "FATAL", Text: "no connection"}, "scanProblem is FATAL"},
	}
	for _, tt := range tests {
		if got := tlspolicytest.Flaws(with(tt.finding)); len(got) != 1 || !strings.HasPrefix(got[0], tt.want) {
			t.Errorf("%+v: got %q, want one that begins with %q", tt.finding, got, tt.want)
		}
	}
	if got := tlspolicytest.Flaws(nil); len(got) < 20 {
		t.Errorf("of no findings: got %q, want every rule", got)
	}
}

// A server that is Go's own and was made worse does not pass, for the reasons that it gives.
func TestTLSAuditFindsAWeakServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.EnableHTTP2 = true
	// RSA, because httptest's certificate has it
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS11, CipherSuites: []uint16{
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
	}}
	server.StartTLS()
	t.Cleanup(server.Close)
	got := tlspolicytest.Flaws(tlspolicytest.AuditPart(t, server.Listener.Addr().String(), "-p", "-s", "-h"))
	for _, want := range []string{"TLS1_1: offered", "cipherlist_AVERAGE: offered", "HSTS_"} {
		if !slices.ContainsFunc(got, func(flaw string) bool { return strings.HasPrefix(flaw, want) }) {
			t.Errorf("got %q, want one of %s", got, want)
		}
	}
	if slices.ContainsFunc(got, func(flaw string) bool { return strings.HasPrefix(flaw, "SSLv3") }) {
		t.Errorf("got %q, want nothing of SSLv3", got)
	}
}
