package executor_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// inVersion returns a payment in that version, as v1 returns it.
func inVersion(version, status string, more ...string) string {
	return transaction(status, append(more, `"version":`+version)...)
}

var conflicts = response{status: http.StatusConflict, body: refusal(v1.CodeVersionConflict)}

// bodies returns the bodies of the requests of a route.
func bodies(f *fakeV1, route string) (all, keys []string) {
	for _, a := range f.seen() {
		if a.route == route {
			all, keys = append(all, a.body), append(keys, a.key)
		}
	}
	return all, keys
}

// TestReversalDecidesAgain: the payment changes between the read and the void.
func TestReversalDecidesAgain(t *testing.T) {
	t.Parallel()
	marked := `"metadata":{"` + command.SaleKey + `":"` + command.SaleMark + `"}`
	first, second := `{"expected_version":1}`, `{"expected_version":2}`
	authorized := inVersion("1", "authorized", append(held, marked)...)
	plain, captured := inVersion("1", "authorized", held...), inVersion("2", "captured", append(taken, manual)...)
	sale := append(taken, automatic)
	sold, soldLater := inVersion("1", "captured", sale...), inVersion("2", "captured", sale...)
	inPart := inVersion("2", "partially_captured", held...)
	done := func(version string) response {
		return response{status: 200, body: inVersion(version, "voided", held...)}
	}
	reverse, cancel := command.Reverse{Target: number}, command.CancelCapture{Target: number}
	tests := []struct {
		name    string
		command command.Command
		reads   []string
		voids   []response
		want    command.Outcome
		code    string
		sent    []string
	}{
		{
			"captured by another request", reverse,
			[]string{plain, captured},
			[]response{conflicts},
			command.Refused, v1.CodeNotVoidable,
			[]string{first},
		},
		{
			"a sale whose capture was under way", reverse,
			[]string{authorized, soldLater},
			[]response{conflicts, done("3")},
			command.Done, "",
			[]string{first, second},
		},
		{
			"a sale that is held, and captured in part", cancel,
			[]string{sold, inPart},
			[]response{conflicts},
			command.Refused, v1.CodeNotVoidable,
			[]string{first},
		},
		{
			"voided by this command before", reverse,
			[]string{inVersion("2", "voided", held...)},
			[]response{done("2")},
			command.Done, "",
			[]string{first},
		},
		{
			"without an end", reverse,
			[]string{authorized},
			[]response{conflicts},
			command.Refused, v1.CodeOperationInProgress, slices.Repeat([]string{first}, 8),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var reads []response
			for _, body := range tt.reads {
				reads = append(reads, response{status: 200, body: body})
			}
			x, f := setup(t, map[string][]response{read: reads, void: tt.voids, readCaps: listed()})
			r := run(t, x, tt.command)
			if r.Outcome != tt.want || r.Code != tt.code {
				t.Errorf("got %s %s, want %s %s", r.Outcome, r.Code, tt.want, tt.code)
			}
			sent, keys := bodies(f, void)
			if !slices.Equal(sent, tt.sent) || len(slices.Compact(slices.Sorted(slices.Values(keys)))) != len(keys) {
				t.Errorf("voids: got %v under %v, want %v, each under its own key", sent, keys, tt.sent)
			}
		})
	}
}

// TestNameAfterAVersionConflict: a conflict does not use the name, even of a command whose refusals
// are final. Its retry finds the void that followed.
func TestNameAfterAVersionConflict(t *testing.T) {
	t.Parallel()
	reused := response{status: http.StatusUnprocessableEntity, body: refusal(v1.CodeKeyReused)}
	voided := inVersion("3", "voided", held...)
	for _, final := range []bool{false, true} {
		reversal := command.Named{Command: command.Reverse{Target: number}, Name: "n", Final: final}
		reads := slices.Concat(ok(inVersion("1", "authorized", held...)), ok(inVersion("2", "authorized", held...)),
			ok(voided))
		voids := []response{conflicts, {status: 200, body: voided}, reused, conflicts, {status: 200, body: voided}}
		learn, f := setup(t, map[string][]response{read: reads, void: voids})
		run(t, learn, reversal)
		_, keys := bodies(f, void)
		// The record is recent by any clock.
		record := `{"status":"completed","http_status":409,"error_code":"version_conflict",` +
			`"created_at":"2999-01-01T00:00:00.000Z"}`
		responses := map[string][]response{
			read: reads, void: voids, readCaps: listed(), "GET /v1/idempotency_keys/" + keys[0]: ok(record),
		}
		x, f := setup(t, responses)
		for range 2 {
			if r := run(t, x, reversal); r.Outcome != command.Done {
				t.Fatalf("final %t: got %s %s, want done", final, r.Outcome, r.Code)
			}
		}
		sent, under := bodies(f, void)
		want := []string{
			`{"expected_version":1}`, `{"expected_version":2}`, `{"expected_version":2}`, `{"expected_version":1}`,
			`{"expected_version":2}`,
		}
		first := slices.Equal(under[2:4], []string{under[0], under[0]})
		if !slices.Equal(sent, want) || !first || under[1] != under[4] || under[0] == under[1] {
			t.Errorf("final %t: got %v under %v, want %v", final, sent, under, want)
		}
	}
}

// TestVoidAgainAfterAChange: the merchant has changed the description of a payment after its void.
// The retry of the void still gets its response. A key of another request stays taken.
func TestVoidAgainAfterAChange(t *testing.T) {
	t.Parallel()
	reused := response{status: http.StatusUnprocessableEntity, body: refusal(v1.CodeKeyReused)}
	done := response{status: http.StatusOK, body: inVersion("2", "voided", held...)}
	third, second, first, none := `{"expected_version":3}`, `{"expected_version":2}`, `{"expected_version":1}`,
		`{"expected_version":0}`
	for _, c := range []struct {
		version string
		voids   []response
		want    command.Outcome
		sent    []string
	}{
		{"2", []response{done}, command.Done, []string{first}},
		{"4", []response{reused, reused, done}, command.Done, []string{third, second, first}},
		{"2", []response{reused}, command.Refused, []string{first, none}},
	} {
		x, f := setup(t, map[string][]response{read: ok(inVersion(c.version, "voided", held...)), void: c.voids})
		r := run(t, x, command.Reverse{Target: number})
		if sent, _ := bodies(f, void); r.Outcome != c.want || !slices.Equal(sent, c.sent) {
			t.Errorf("version %s: got %s %s after %v, want %s after %v", c.version, r.Outcome, r.Code, sent, c.want, c.sent)
		}
	}
}

// TestVoidOfAnExpectedVersion: a caller that chose the version gets the conflict as a refusal.
func TestVoidOfAnExpectedVersion(t *testing.T) {
	t.Parallel()
	version := int64(1)
	x, f := setup(t, map[string][]response{void: {{
		status: http.StatusConflict, body: refusalWith(v1.CodeVersionConflict, inVersion("2", "captured", taken...)),
	}}})
	r := run(t, x, command.Named{Command: command.Void{Target: number, Expected: &version}, Name: "n", Final: true})
	if r.Outcome != command.Refused || r.Code != v1.CodeNotVoidable || r.Transaction == nil || f.count(void) != 1 {
		t.Errorf("got %s %s after %d voids, want one refusal with the payment", r.Outcome, r.Code, f.count(void))
	}
}

// TestNotFoundByNameReservesTheName: a payment or a capture arrives after its reversal found none.
func TestNotFoundByNameReservesTheName(t *testing.T) {
	t.Parallel()
	for name, undo := range map[string]command.Command{
		"reversal": command.Reverse{Name: "n"}, "void": command.CancelCapture{Name: "n"},
	} {
		b := setupWindow(t, noon)
		before := b.proxy(t, otherSecret, goldentest.Secret())
		for range 2 {
			if r := b.result(t, 0, undo); r.Outcome != command.NotFound {
				t.Errorf("%s: got %s, want not found", name, r.Outcome)
			}
		}
		for i, x := range []*executor.Executor{b.proxies[1], before} {
			r := x.Execute(t.Context(), key, named(100))
			if r.Outcome != command.Refused || r.Code != v1.CodeKeyReused {
				t.Errorf("%s: the late payment at proxy %d: got %s %s, want refused", name, i, r.Outcome, r.Code)
			}
		}
		late := b.result(t, 1, command.Named{Command: command.Capture{Target: number, Seen: true}, Name: "n"})
		if late.Outcome != command.Refused || late.Code != v1.CodeKeyReused {
			t.Errorf("%s: the late capture: got %s %s, want refused", name, late.Outcome, late.Code)
		}
	}
}

// TestNotFoundAfterARefusalReservesTheNextKey: a name whose first key has a refusal is used too,
// even at a proxy with the next deduplication secret.
func TestNotFoundAfterARefusalReservesTheNextKey(t *testing.T) {
	t.Parallel()
	for _, secrets := range [][2]secret.String{{goldentest.Secret(), otherSecret}, {otherSecret, goldentest.Secret()}} {
		b := refusedFirst(t)
		r := b.proxy(t, secrets[0], secrets[1]).Execute(t.Context(), key, command.Reverse{Name: "n"})
		if r.Outcome != command.NotFound {
			t.Errorf("got %s, want not found", r.Outcome)
		}
		if r := b.result(t, 1, named(100)); r.Outcome != command.Refused || b.v1.paid() != 0 {
			t.Errorf("the late payment: got %s %s, %d paid, want it refused", r.Outcome, r.Code, b.v1.paid())
		}
	}
}

// TestReversalLosesTheNameToItsPayment: the payment arrives between the search and the reservation.
func TestReversalLosesTheNameToItsPayment(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	between := &meanwhile{method: http.MethodPost, RoundTripper: b.server.Client().Transport}
	between.run = func() { b.result(t, 1, named(100)) }
	x, err := executor.New(executor.Config{
		V1:                  v1client.Config{URL: b.server.URL, Transport: between, Clock: b.clock},
		DeduplicationSecret: goldentest.Secret(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := x.Execute(t.Context(), key, command.Reverse{Name: "n"}); r.Transaction == nil {
		t.Errorf("got %s %s, want the payment", r.Outcome, r.Code)
	}
}
