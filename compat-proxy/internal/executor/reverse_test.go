package executor_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var (
	capID     = mustID(id.Capture)
	readCap   = "GET /v1/captures/" + capID
	readCaps  = "GET /v1/transactions/" + txnID + "/captures"
	refunds   = "POST /v1/refunds"
	reserve   = "POST /v1/idempotency_keys"
	automatic = `"capture":"automatic"`
	manual    = `"capture":"manual"`
	held      = []string{manual, `"amount":2000`, `"amount_authorized":2000`}
	taken     = []string{`"amount":2000`, `"amount_authorized":2000`, `"amount_captured":2000`}
)

// of returns a capture as v1 returns it.
func of(status, amount string) string {
	return `{"id":"` + capID + `","transaction":"` + txnID + `","status":"` + status + `","amount":` + amount +
		`,"currency":"usd"}`
}

// back returns a refund as v1 returns it.
func back(status, amount string) string {
	return `{"id":"` + refund + `","transaction":"` + txnID + `","status":"` + status + `","amount":` + amount +
		`,"currency":"usd"}`
}

func listed(items ...string) []response {
	return []response{{status: 200, body: `{"object":"list","data":[` + strings.Join(items, ",") + `],"has_more":false}`}}
}

func ok(body string) []response { return []response{{status: 200, body: body}} }

func TestReverse(t *testing.T) {
	t.Parallel()
	notVoidable := []response{{status: 409, body: refusalWith(v1.CodeNotVoidable, transaction("captured", taken...))}}
	sale := `"metadata":{"` + command.SaleKey + `":"` + command.SaleMark + `"}`
	tests := []struct {
		name, state    string
		amount         string
		response       []response
		want           command.Outcome
		unmet          command.Condition
		code           string
		voids          int
		capturesListed []response
	}{
		{name: "OK", state: transaction("authorized", held...), amount: "20.00", want: command.Done, voids: 1},
		{name: "all of it", state: transaction("authorized", held...), want: command.Done, voids: 1},
		{
			name: "a cent less", state: transaction("authorized", held...), amount: "19.99", want: command.Unmet,
			unmet: command.ConditionAmount,
		},
		{
			name: "a cent more", state: transaction("authorized", held...), amount: "20.01", want: command.Unmet,
			unmet: command.ConditionAmount,
		},
		{
			name: "not an amount", state: transaction("authorized", held...), amount: "all", want: command.Unmet,
			unmet: command.ConditionAmount,
		},
		{
			name: "approved for less", state: transaction("authorized", manual, `"amount":2000`, `"amount_authorized":1500`),
			amount: "15.00", want: command.Done, voids: 1,
		},
		{
			name: "approved for less, the requested amount", state: transaction("authorized", manual, `"amount":2000`,
				`"amount_authorized":1500`),
			amount: "20.00", want: command.Unmet, unmet: command.ConditionAmount,
		},
		{
			name: "a verification", state: transaction("authorized", manual, `"amount":0`, `"amount_authorized":0`),
			amount: "0.00", want: command.Done, voids: 1,
		},
		{
			name: "a sale", state: transaction("captured", append(taken, automatic)...), amount: "20.00", want: command.Done,
			voids: 1,
		},
		{
			name: "a sale in two steps", state: transaction("captured", append(taken, manual, sale)...), amount: "20.00",
			want: command.Done, voids: 1, capturesListed: listed(of("succeeded", "2000")),
		},
		{
			name: "one that was captured in two parts", state: transaction("captured", append(taken, manual, sale)...),
			amount: "20.00", want: command.Refused, code: v1.CodeNotVoidable,
			capturesListed: listed(of("succeeded", "1000"), of("succeeded", "1000")),
		},
		{
			name: "one that was held, and captured in part", amount: "20.00", want: command.Refused,
			code:  v1.CodeNotVoidable,
			state: transaction("captured", manual, sale, `"amount":2000`, `"amount_authorized":2000`, `"amount_captured":500`),
		},
		{
			name: "one whose captures cannot be read", state: transaction("captured", append(taken, manual, sale)...),
			amount: "20.00", want: command.Unavailable, capturesListed: []response{{status: 500}},
		},
		{
			name: "a sale that settled", state: transaction("captured", append(taken, automatic)...), amount: "20.00",
			response: notVoidable, want: command.Refused, code: v1.CodeNotVoidable, voids: 1,
		},
		{
			name: "captured later: nothing is voided", state: transaction("captured", append(taken, manual)...), amount: "20.00",
			want: command.Refused, code: v1.CodeNotVoidable,
		},
		{
			name: "captured in part: nothing is voided", state: transaction("partially_captured", held...), amount: "20.00",
			want: command.Refused, code: v1.CodeNotVoidable,
		},
		{
			name: "reversed already: v1 may have stored this one", state: transaction("voided", held...), amount: "1",
			want: command.Done, voids: 1, capturesListed: listed(),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.response == nil {
				tt.response = ok(transaction("voided", held...))
			}
			x, f := setup(t, map[string][]response{read: ok(tt.state), void: tt.response, readCaps: tt.capturesListed})
			r := run(t, x, command.Reverse{Target: number, Amount: tt.amount})
			if r.Outcome != tt.want || r.Unmet != tt.unmet || r.Code != tt.code {
				t.Errorf("got %s %s %s, want %s %s %s", r.Outcome, r.Unmet, r.Code, tt.want, tt.unmet, tt.code)
			}
			if got := len(f.posts()); got != tt.voids {
				t.Errorf("voids: got %d, want %d", got, tt.voids)
			}
		})
	}
}

// byCapture returns v1's responses for a number that is a capture's and no payment's.
func byCapture(payment, capture string) map[string][]response {
	return map[string][]response{
		read:    {{status: 404, body: refusal("not_found")}, {status: 200, body: payment}},
		readCap: ok(capture),
	}
}

// canceled is a CancelCapture against prepared responses of v1.
type canceled struct {
	name      string
	responses map[string][]response
	want      command.Outcome
	voids     int
}

func TestCancelCapture_byItsNumber(t *testing.T) {
	t.Parallel()
	full := transaction("captured", append(taken, manual)...)
	part := transaction("partially_captured", held...)
	checkCanceled(t, []canceled{
		{"the only capture, by its number", byCapture(full, of("succeeded", "2000")), command.Done, 1},
		{"one of two", byCapture(full, of("succeeded", "1999")), command.Refused, 0},
		{"of a payment that may be captured further", byCapture(part, of("succeeded", "500")), command.Refused, 0},
		{"one that failed", byCapture(full, of("failed", "2000")), command.Refused, 0},
		{
			"one that failed, of a payment without another",
			byCapture(transaction("authorized", held...), of("failed", "2000")), command.Refused, 0,
		},
		{
			"voided already: v1 may have stored this one",
			byCapture(transaction("voided", manual), of("voided", "2000")), command.Done, 1,
		},
	})
}

func TestCancelCapture_byThePaymentsNumber(t *testing.T) {
	t.Parallel()
	full := transaction("captured", append(taken, manual)...)
	checkCanceled(t, []canceled{
		{
			"a sale by its number",
			map[string][]response{read: ok(transaction("captured", append(taken, automatic)...))},
			command.Done, 1,
		},
		{
			"by the payment's number",
			map[string][]response{read: ok(full), readCaps: listed(of("failed", "7"), of("succeeded", "2000"))},
			command.Done, 1,
		},
		{
			"two by the payment's number",
			map[string][]response{read: ok(full), readCaps: listed(of("succeeded", "1000"), of("succeeded", "1000"))},
			command.Refused, 0,
		},
		{
			"captures that cannot be read",
			map[string][]response{read: ok(full), readCaps: {{status: 500}}},
			command.Unavailable, 0,
		},
		{
			"nothing captured",
			map[string][]response{read: ok(transaction("authorized", held...)), readCaps: listed()},
			command.Done, 1,
		},
		{
			"a refund's number",
			map[string][]response{"GET /v1/refunds/" + refund: ok(`{"id":"` + refund + `"}`)},
			command.NotFound, 0,
		},
		{"an unknown number", nil, command.NotFound, 0},
	})
}

func checkCanceled(t *testing.T, tests []canceled) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.responses == nil {
				tt.responses = map[string][]response{}
			}
			tt.responses[void] = ok(transaction("voided", manual))
			x, f := setup(t, tt.responses)
			if got := run(t, x, command.CancelCapture{Target: number}).Outcome; got != tt.want {
				t.Errorf("outcome: got %s, want %s", got, tt.want)
			}
			if got := len(f.posts()); got != tt.voids {
				t.Errorf("voids: got %d, want %d", got, tt.voids)
			}
		})
	}
}

func TestRefundOfACapture(t *testing.T) {
	t.Parallel()
	x, f := setup(t, map[string][]response{
		read:    {{status: 404, body: refusal("not_found")}, {status: 200, body: transaction("captured")}},
		readCap: ok(of("succeeded", "2000")),
		refunds: {{status: 201, body: strings.Replace(back("succeeded", "500"), "{", `{"capture":"`+capID+`",`, 1)}},
	})
	r := run(t, x, command.Refund{Target: number, Captures: true, Amount: "5"})
	if r.Outcome != command.Done || r.Capture == nil || r.Transaction == nil {
		t.Errorf("got %s, capture %v, transaction %v, want done with both", r.Outcome, r.Capture, r.Transaction)
	}
	posts := f.posts()
	if want := `{"amount":500,"capture":"` + capID + `","transaction":"` + txnID + `"}`; len(posts) != 1 ||
		posts[0].body != want {
		t.Errorf("posts: got %+v, want one with %s", posts, want)
	}
}

func TestACapturesNumberIsNoPaymentsUnlessAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []command.Command{
		command.Refund{Target: number},
		command.Get{Target: number},
		command.Capture{Target: number},
	} {
		x, f := setup(t, map[string][]response{readCap: ok(of("succeeded", "2000"))})
		if got, want := run(t, x, c).Outcome, command.NotFound; got != want || len(f.posts()) != 0 {
			t.Errorf("%s: got %s and %d posts, want %s and none", c.Kind(), got, len(f.posts()), want)
		}
	}
}

func TestGetOfACapture(t *testing.T) {
	t.Parallel()
	x, _ := setup(t, map[string][]response{
		read:    {{status: 404, body: refusal("not_found")}, {status: 200, body: transaction("captured")}},
		readCap: ok(of("succeeded", "2000")),
	})
	r := run(t, x, command.Get{Target: number, Captures: true})
	if r.Outcome != command.Done || r.Capture == nil || r.Capture.ID != capID || r.Transaction == nil {
		t.Errorf("got %s, capture %v, transaction %v, want both", r.Outcome, r.Capture, r.Transaction)
	}
}

// keyOf returns the key that v1 gets for the command under the name "n".
func keyOf(t *testing.T, c command.Command) string {
	t.Helper()
	x, f := setup(t, map[string][]response{
		create: {{status: 201, body: transaction("authorized")}}, read: ok(transaction("authorized")),
		capture: {{status: 201, body: of("succeeded", "1")}}, refunds: {{status: 201, body: back("succeeded", "1")}},
	})
	run(t, x, under("n", c))
	return f.posts()[0].key
}

func TestReversalByName(t *testing.T) {
	t.Parallel()
	payment := "GET /v1/idempotency_keys/" + keyOf(t, charge)
	captured := "GET /v1/idempotency_keys/" + keyOf(t, command.Capture{Target: number})
	completed := func(resource string) []response {
		return ok(`{"status":"completed","http_status":201,"resource":"` + resource + `"}`)
	}
	running := ok(`{"status":"in_progress"}`)
	authorized, sale := ok(transaction("authorized", held...)), ok(transaction("captured", append(taken, automatic)...))
	reverse, cancel := command.Reverse{Name: "n", Amount: "20.00"}, command.CancelCapture{Name: "n"}
	tests := []struct {
		name      string
		command   command.Command
		responses map[string][]response
		want      command.Outcome
		voids     int
	}{
		{"a payment", reverse, map[string][]response{payment: completed(txnID), read: authorized}, command.Done, 1},
		{"no payment", reverse, nil, command.NotFound, 0},
		{"a payment under way", reverse, map[string][]response{payment: running}, command.Uncertain, 0},
		{"a payment under way that ends", reverse, map[string][]response{
			payment: append(running, completed(txnID)...),
			read:    authorized,
		}, command.Done, 1},
		{
			"a payment that made nothing", reverse,
			map[string][]response{payment: ok(`{"status":"completed","http_status":503}`)},
			command.NotFound, 0,
		},
		{
			"without the scope to read keys", reverse,
			map[string][]response{payment: {{status: 403, body: refusal("insufficient_scope")}}},
			command.Refused, 0,
		},
		{
			"a capture, reversed", reverse,
			map[string][]response{captured: completed(capID), readCap: ok(of("succeeded", "2000")), read: sale},
			command.Refused, 0,
		},
		{"a capture under way, reversed", reverse, map[string][]response{captured: running}, command.Uncertain, 0},
		{
			"a capture without an outcome, reversed", reverse,
			map[string][]response{captured: completed(capID), readCap: ok(of("pending", "2000")), read: authorized},
			command.Uncertain, 0,
		},
		{
			"a capture that failed, reversed", reverse,
			map[string][]response{captured: completed(capID), readCap: ok(of("failed", "2000")), read: authorized},
			command.NotFound, 0,
		},
		{"a sale", cancel, map[string][]response{payment: completed(txnID), read: sale}, command.Done, 1},
		{"an authorization", cancel, map[string][]response{payment: completed(txnID), read: authorized}, command.Refused, 0},
		{
			"a sale that was cut short before its capture", cancel,
			map[string][]response{
				payment: completed(txnID), read: ok(transaction("authorized",
					append(held, `"metadata":{"`+command.SaleKey+`":"`+command.SaleMark+`"}`)...)),
			},
			command.Done, 1,
		},
		{"a capture", cancel, map[string][]response{
			captured: completed(capID), readCap: ok(of("succeeded", "2000")),
			read: sale,
		}, command.Done, 1},
		{"a capture that was refused", cancel, map[string][]response{
			captured: completed(txnID), payment: completed(txnID),
			read: sale,
		}, command.Done, 1},
		{
			"a capture under way", cancel,
			map[string][]response{captured: running, payment: completed(txnID), read: sale},
			command.Uncertain, 0,
		},
		{"no capture", cancel, nil, command.NotFound, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.responses == nil {
				tt.responses = map[string][]response{}
			}
			tt.responses[void] = ok(transaction("voided", manual))
			tt.responses[readCaps], tt.responses[reserve] = listed(), []response{{status: 201, body: "{}"}}
			x, f := setup(t, tt.responses)
			if got := run(t, x, tt.command).Outcome; got != tt.want {
				t.Errorf("outcome: got %s, want %s; requests %v", got, tt.want, routes(f))
			}
			if got := f.count(void); got != tt.voids {
				t.Errorf("voids: got %d, want %d", got, tt.voids)
			}
		})
	}
}

// count returns the number of requests of a route.
func (f *fakeV1) count(route string) int {
	n := 0
	for _, a := range f.seen() {
		if a.route == route {
			n++
		}
	}
	return n
}

func routes(f *fakeV1) []string {
	var all []string
	for _, a := range f.seen() {
		all = append(all, a.route)
	}
	return all
}

func TestNamedWaitsForAnotherOperation(t *testing.T) {
	t.Parallel()
	busy := response{status: http.StatusConflict, body: refusal(v1.CodeOperationInProgress)}
	done := response{status: 201, body: of("succeeded", "100")}
	tests := []struct {
		name      string
		command   command.Command
		responses []response
		want      command.Outcome
		posts     int
	}{
		{
			"named",
			command.Named{Command: command.Capture{Target: number}, Name: "n"},
			[]response{busy, busy, done},
			command.Done, 3,
		},
		{"not named", command.Capture{Target: number}, []response{busy, done}, command.Refused, 1},
		{
			"waiting has an end",
			command.Named{Command: command.Capture{Target: number}, Name: "n"},
			[]response{busy},
			command.Refused, 5,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x, f := setup(t, map[string][]response{
				read:    ok(transaction("authorized", held...)),
				capture: slices.Clone(tt.responses),
			})
			if got := run(t, x, tt.command).Outcome; got != tt.want || len(f.posts()) != tt.posts {
				t.Errorf("got %s after %d posts, want %s after %d", got, len(f.posts()), tt.want, tt.posts)
			}
		})
	}
}
