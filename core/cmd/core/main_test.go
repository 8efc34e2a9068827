package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// run runs a command line and returns its exit code and output.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	out, err := &programtest.Log{}, &programtest.Log{}
	m := Main{Args: args, Stdout: out, Stderr: err}
	code = m.Run(t.Context())
	return code, out.String(), err.String()
}

// MustPrint returns the only line that a command prints.
func MustPrint(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := run(t, args...)
	if code != 0 || stderr != "" || strings.Count(stdout, "\n") != 1 {
		t.Fatalf("%v: got %d, %q, %q", args, code, stdout, stderr)
	}
	return strings.TrimSpace(stdout)
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}, {"serve", "--help"}, {"keys", "-h"}} {
		if code, stdout, stderr := run(t, args...); code != 0 || !strings.Contains(stdout, "Usage:") || stderr != "" {
			t.Errorf("%v: got %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// TestUsageOfOneCommand: a wrong command, and its help, show the usage of this command only.
func TestUsageOfOneCommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][2]string{
		"accounts ad":                      {"accounts add --merchant", "keys"},
		"accounts add":                     {"accounts add --merchant", "accounts list"},
		"accounts add --help":              {"[--unchecked]", "accounts list"},
		"help accounts rotate":             {"accounts rotate acct_…", "accounts list"},
		"steps resolve":                    {"steps resolve STEP", "steps list"},
		"merchants create --mercahnt":      {"[--cutoff HH:MM]", "merchants update"},
		"settlements resolve --help":       {"[--despite-failed-report]", "personal-data"},
		"merchants create x --cutoff 8:32": {"--cutoff: want two digits each", "accounts"},
		"dance":                            {"core serve|health|version|migrate|merchants|accounts|", "--merchant"},
	} {
		_, stdout, stderr := run(t, strings.Fields(command)...)
		text := stdout + stderr
		if !strings.Contains(text, want[0]) || strings.Contains(text, want[1]) || !strings.Contains(text, "core help explains") {
			t.Errorf("%s: got\n%s\nwant %q and no %q in it", command, text, want[0], want[1])
		}
	}
}

// TestHelpIgnoresFlags: help with a flag and no command is the whole help.
func TestHelpIgnoresFlags(t *testing.T) {
	t.Parallel()
	_, whole, _ := run(t, "help")
	for _, args := range [][]string{{"help", "--data", "./data"}, {"--help", "--store=postgres://x"}} {
		if code, got, stderr := run(t, args...); code != 0 || got != whole || stderr != "" {
			t.Errorf("%v: got %d, %q, %q, want the whole help", args, code, got, stderr)
		}
	}
}

// TestHelpNamesTheRateLimit checks that help names the default limits. core's tests compare
// that default with the README and the responses.
func TestHelpNamesTheRateLimit(t *testing.T) {
	t.Parallel()
	_, help, _ := run(t, "help")
	for _, want := range []string{
		"N requests a second for each API key (" + strconv.Itoa(core.DefaultRateLimit) + "), and twice as many after a pause",
		"N declined confirmations an hour for each publishable key (" + strconv.Itoa(core.DefaultDeclineLimit) + ")",
		"WARNING: from that date on, a\n",
		"program that calls these endpoints in the clear is refused, also a merchant's own proxy\n",
		"N declined confirmations an hour for a client address (" + strconv.Itoa(core.DefaultPayerDeclineLimit) + ")",
	} {
		if !strings.Contains(help, want) {
			t.Errorf("help lacks %q:\n%s", want, help)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{},
		{"dance"},
		{"serve", "--nonsense"},
		{"serve", "more"},
		{"merchants"},
		{"merchants", "create"},
		{"merchants", "delete", "x"},
		{"merchants", "create", "Shop", "--cutoff", "24:00"},
		{"merchants", "create", "Shop", "--time-zone", "Local"},
		{"merchants", "create", "Shop", "--time-zone", "Mars/Base"},
		{"merchants", "update", "mer_0000000000001"},
		{"merchants", "update", "mer_0000000000001", "--unlinked-refunds", "maybe"},
		{"keys"},
		{"keys", "delete"},
		{"serve", "--rate-limit", "-1"},
		{"serve", "--payer-rate-limit", "-1"},
		{"serve", "--decline-limit", "-1"},
		{"serve", "--payer-decline-limit", "-1"},
		{"serve", "--keep-events", "-1"},
		{"serve", "--keep-events", "1"},
		{"serve", "--keep-events", "59"},
		{"serve", "--keep-events", "36526"},
		{"serve", "--keep-events", "213580"}, // 76 days after an integer overflow
		{"migrate", "x"},
		{"backup"},
		{"backup", "--to", "a", "b"},
		{"restore"},
	} {
		if code, stdout, stderr := run(t, args...); code != 2 || stdout != "" || !strings.Contains(stderr, "Usage:") {
			t.Errorf("%v: got %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// TestKeepEvents tests the bounds.
func TestKeepEvents(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]time.Duration{0: 0, 60: core.LeastKeepEvents, 61: 61 * 24 * time.Hour, 36525: 876600 * time.Hour} {
		if got, err := keepDays("--keep-events", days, core.LeastKeepEvents); got != want || err != nil {
			t.Errorf("%d: got %s, %v, want %s", days, got, err, want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	merchant := MustPrint(t, "merchants", "--data", data, "create", "Shop")
	for _, args := range [][]string{
		{"keys", "--data", data, "create"},
		{"keys", "--data", data, "create", "--merchant", "mer_0000000000001"},
		{"keys", "--data", data, "create", "--merchant", merchant, "--mode", "prod"},
		{"keys", "--data", data, "create", "--merchant", merchant, "--kind", "root"},
		{"keys", "--data", data, "create", "--merchant", merchant, "--scopes", "all"},
		{"merchants", "--data", data, "create", ""},
		{"merchants", "--data", data, "update", "mer_0000000000001", "--cutoff", "01:00"},
		{"merchants", "--data", data, "update", "Shop", "--cutoff", "01:00"},
		{"serve", "--data", data, "--listen", "256.0.0.1:http"},
		{"migrate", "--data", "/dev/null/data"},
	} {
		if code, stdout, stderr := run(t, args...); code != 1 || stdout != "" || !strings.HasPrefix(stderr, "core: ") && !strings.Contains(stderr, "\ncore: ") {
			t.Errorf("%v: got %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// TestFromNothingToAPayment follows the README, and makes the keys while the service runs.
func TestFromNothingToAPayment(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if code, stdout, stderr := run(t, "migrate", "--data", data); code != 0 || stdout != "" || stderr != "" {
		t.Fatalf("migrate: got %d, %q, %q", code, stdout, stderr)
	}
	ctx, stop := context.WithCancel(t.Context())
	log := &programtest.Log{}
	ended := make(chan int, 1)
	m := Main{Args: []string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, Stdout: io.Discard, Stderr: log}
	go func() { ended <- m.Run(ctx) }()
	var address []string
	programtest.WaitFor(t, "core listens or ends", func() bool {
		address = regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(log.String())
		return address != nil || len(ended) > 0
	})
	if address == nil {
		t.Fatalf("core has ended: %s", log)
	}
	url := "http://" + address[1]

	merchant := MustPrint(t, "merchants", "--data", data, "create", "My shop")
	key := MustPrint(t, "keys", "create", "--data", data, "--merchant", merchant)
	limited := MustPrint(t, "keys", "--data", data, "--scopes", "transactions:read,refunds:create", "create", "--merchant", merchant)
	const body = `{"amount":1,"currency":"usd","payment_method":"card"}`
	for k, want := range map[string]int{key: 201, limited: 403, key + "x": 401} {
		if got := send(t, url, k, body); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	stop()
	if got := <-ended; got != 0 {
		t.Errorf("exit code: got %d, want 0: %s", got, log)
	}
	if strings.Contains(log.String(), key[8:]) {
		t.Error("the log has the key")
	}
}

func send(t *testing.T, url, key, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/transactions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // only its status was read
	return resp.StatusCode
}

// TestShippedCatalogue checks that the file for users equals the built-in one, and that it loads.
func TestShippedCatalogue(t *testing.T) {
	t.Parallel()
	shipped, err := os.ReadFile("../../../configs/simulator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	built, err := os.ReadFile("../../internal/acquirer/simulator/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if string(shipped) != string(built) {
		t.Error("configs/simulator.yaml is not the built-in catalogue")
	}
}

func TestMerchantsDay(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	merchant := MustPrint(t, "merchants", "create", "Shop", "--data", data, "--time-zone=Asia/Tokyo", "--cutoff", "17:30")
	if got := MustPrint(t, "merchants", "update", merchant, "--cutoff", "02:05", "--data", data); got != merchant {
		t.Errorf("got %q, want %q", got, merchant)
	}
	db := coretest.MustInspect(t, data+"/causeway.db")
	var got string
	if err := db.QueryRowContext(t.Context(), "SELECT time_zone || cutoff FROM merchants").Scan(&got); err != nil || got != "Asia/Tokyo125" {
		t.Errorf("got %q, %v, want Asia/Tokyo125", got, err)
	}
}
