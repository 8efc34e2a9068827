package tlspolicytest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Finding is one finding of testssl.sh.
type Finding struct {
	ID       string `json:"id"`
	Severity string `json:"severity"` // OK, INFO, WARN, LOW, MEDIUM, HIGH, CRITICAL; FATAL if it could not continue
	Text     string `json:"finding"`
}

// audit is how long one run may take. On an idle machine it takes half a minute.
const audit = 2 * programtest.Patience

// Audit runs testssl.sh against the HTTPS server at addr, which responds to GET /, and returns its
// findings. It checks versions, suites, the header and known attacks. It does not check the chain,
// because tests use their own authority.
func Audit(tb testing.TB, addr string) []Finding {
	tb.Helper()
	return AuditPart(tb, addr, "-p", "-s", "-f", "-h", "-U")
}

// AuditPart is Audit with only some checks, as options of testssl.sh: -p for the versions, -s for
// the suites and -h for the header. The known attacks take most of an audit's time.
func AuditPart(tb testing.TB, addr string, checks ...string) []Finding {
	tb.Helper()
	program, err := exec.LookPath("testssl")
	if err != nil {
		program, err = exec.LookPath("testssl.sh")
	}
	if err != nil {
		tb.Fatalf("testssl.sh is not installed, the package of this name: %v", err)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		tb.Fatal(err)
	}
	report := filepath.Join(tb.TempDir(), "testssl.json")
	ctx, cancel := context.WithTimeout(tb.Context(), audit)
	defer cancel()
	args := append([]string{"--quiet", "--color", "0", "--warnings", "off", "--ip", host}, checks...)
	args = append(args, "--jsonfile", report, "https://"+net.JoinHostPort("localhost", port))
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the test's own address
	cmd.WaitDelay = 10 * time.Second                  // it has children, which hold its output
	out, failure := cmd.CombinedOutput()
	text, err := os.ReadFile(report)
	if err != nil {
		tb.Fatalf("testssl.sh: %v: %v\n%s", failure, err, out)
	}
	var findings []Finding
	if err := json.Unmarshal(text, &findings); err != nil {
		tb.Fatalf("testssl.sh: %v: %v\n%s", failure, err, out)
	}
	return findings
}

// grades are the severities that do not count as a flaw.
var grades = []string{"OK", "INFO", "WARN", "DEBUG", "LOW", "MEDIUM"}

// Flaws returns the findings against a listener of the policy, nil for none. A flaw is a finding
// with the grade HIGH, CRITICAL or FATAL. A required finding that is missing or has another text is
// a flaw, too. It reads both series of testssl.sh, 3.0 and 3.2. It ignores the exit code.
func Flaws(findings []Finding) []string {
	var flaws []string
	said := map[string]Finding{}
	for _, f := range findings {
		said[f.ID] = f
		if !slices.Contains(grades, f.Severity) {
			flaws = append(flaws, fmt.Sprintf("%s is %s: %s", f.ID, f.Severity, f.Text))
		}
	}
	for _, rule := range rules {
		flaws = append(flaws, rule.broken(said)...)
	}
	return flaws
}

// rule is the required content of one finding.
type rule struct {
	ids   []string // its name in each series of testssl.sh
	begin string   // the begin of its text; empty for a severity of OK with any text
}

var rules = slices.Concat(
	each("not offered", "SSLv2", "SSLv3", "TLS1", "TLS1_1", "cipherlist_NULL", "cipherlist_aNULL", "cipherlist_EXPORT",
		"cipherlist_LOW"),
	each("offered", "TLS1_2", "TLS1_3"),
	[]rule{
		{[]string{"cipherlist_3DES_IDEA"}, "not offered"},
		{[]string{"cipherlist_AVERAGE", "cipherlist_OBSOLETED"}, "not offered"}, // CBC
		{[]string{"cipherlist_STRONG", "cipherlist_STRONG_FS"}, "offered"},
		{[]string{"PFS", "FS"}, "offered"},
	},
	each("", "ALPN_HTTP2", "LUCKY13", "BEAST", "ROBOT", "SWEET32", "LOGJAM", "FREAK", "DROWN", "RC4", "POODLE_SSL",
		"CRIME_TLS", "heartbleed", "CCS",
		"ticketbleed", "secure_renego", "secure_client_renego", "HSTS_time", "HSTS_subdomains"),
)

func each(begin string, ids ...string) []rule {
	var out []rule
	for _, id := range ids {
		out = append(out, rule{[]string{id}, begin})
	}
	return out
}

func (r rule) broken(said map[string]Finding) []string {
	for _, id := range r.ids {
		f, ok := said[id]
		switch {
		case !ok:
			continue
		case r.begin == "" && f.Severity != "OK", !strings.HasPrefix(f.Text, r.begin):
			return []string{fmt.Sprintf("%s: %s (%s)", id, f.Text, f.Severity)}
		}
		return nil
	}
	return []string{strings.Join(r.ids, " or ") + ": not said"}
}
