package executor_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	settledCard = `"settlement":"settled"`
	visa1111    = `"card":{"brand":"visa","last4":"1111"}`
)

func TestConditionsComeBeforeAnyEffect(t *testing.T) {
	t.Parallel()
	all := command.Require{Settled: true, Last4: "1111", Currency: "usd"}
	tests := []struct {
		name   string
		state  string
		amount string
		want   command.Condition
	}{
		{"OK", transaction("captured", settledCard, visa1111), "1.5", ""},
		{"all of it", transaction("captured", settledCard, visa1111), "", ""},
		{"not settled", transaction("captured", `"settlement":"pending"`, visa1111), "1.5", command.ConditionSettled},
		{"another card", transaction("captured", settledCard, `"card":{"last4":"2222"}`), "1.5", command.ConditionLast4},
		{"no card", transaction("captured", settledCard), "1.5", command.ConditionLast4},
		{
			"another currency", strings.Replace(transaction("captured", settledCard, visa1111), "usd", "eur", 1), "1.5",
			command.ConditionCurrency,
		},
		{"too precise", transaction("captured", settledCard, visa1111), "1.505", command.ConditionAmount},
		{"not positive", transaction("captured", settledCard, visa1111), "-1", command.ConditionAmount},
		{"not an amount", transaction("captured", settledCard, visa1111), "many", command.ConditionAmount},
		{"beyond all amounts", transaction("captured", settledCard, visa1111), "99999999999", command.ConditionRange},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x, f := setup(t, map[string][]response{
				read: {{status: 200, body: tt.state}}, "POST /v1/refunds": {{status: 201, body: `{"id":"` + refund +
					`","status":"pending"}`}},
				capture: {{status: 201, body: of("succeeded", "100")}},
			})
			for _, c := range []command.Command{
				command.Refund{Target: number, Amount: tt.amount, Require: all},
				command.Capture{Target: number, Amount: tt.amount, Require: all},
			} {
				before := len(f.posts())
				r := run(t, x, c)
				if r.Unmet != tt.want {
					t.Errorf("%s unmet: got %q, want %q", c.Kind(), r.Unmet, tt.want)
				}
				if got, want := len(f.posts()) > before, tt.want == ""; got != want {
					t.Errorf("%s changed something at v1: got %t, want %t", c.Kind(), got, want)
				}
			}
		})
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		command command.Command
		route   string
		want    string
	}{
		{
			"capture",
			command.Capture{Target: number, Amount: "20", Final: true, Reference: "r"},
			capture,
			`{"amount":2000,"final":true,"reference":"r"}`,
		},
		{"capture all", command.Capture{Target: number}, capture, `{}`},
		{
			"refund",
			command.Refund{Target: number, Amount: "0.05", Metadata: map[string]string{"a": "b"}},
			"POST /v1/refunds",
			`{"amount":5,"metadata":{"a":"b"},"transaction":"` + txnID + `"}`,
		},
		{"void", command.Void{Target: number}, void, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x, f := setup(t, map[string][]response{
				read:               {{status: 200, body: transaction("authorized")}},
				capture:            {{status: 201, body: strings.Replace(of("succeeded", "2000"), "{", `{"reference":"r",`, 1)}},
				"POST /v1/refunds": {{status: 201, body: back("pending", "5")}}, void: {{status: 200, body: transaction("voided")}},
			})
			if got, want := run(t, x, tt.command).Outcome, command.Done; got != want {
				t.Errorf("outcome: got %s, want %s", got, want)
			}
			posts := f.posts()
			if len(posts) != 1 || posts[0].route != tt.route || posts[0].body != tt.want || posts[0].key == "" {
				t.Errorf("posts: got %+v, want one to %s with %s and a key", posts, tt.route, tt.want)
			}
		})
	}
}

func TestFollowUpRefusals(t *testing.T) {
	t.Parallel()
	authorized := []response{{status: 200, body: transaction("authorized")}}
	tests := []struct {
		name      string
		command   command.Command
		responses map[string][]response
		want      command.Outcome
		posts     int
	}{
		{"void lost, then refused: there was no first void", command.Void{Target: number}, map[string][]response{
			void: {{}, {status: 409, body: refusalWith(v1.CodeNotVoidable, transaction("voided"))}},
		}, command.Refused, 2},
		{"void with an unknown outcome", command.Void{Target: number}, map[string][]response{
			void: {{status: 504, body: refusalWith(v1.CodeOutcomeUnknown, transaction("authorized"))}},
			read: {{status: 200, body: transaction("authorized")}, {status: 200, body: transaction("voided")}},
		}, command.Done, 1},
		{"capture with an unknown outcome is sent again", command.Capture{Target: number}, map[string][]response{
			read:    authorized,
			capture: {{status: 504, body: refusal(v1.CodeOutcomeUnknown)}, {status: 201, body: of("succeeded", "100")}},
		}, command.Done, 2},
		{"capture with an outcome that stays unknown", command.Capture{Target: number}, map[string][]response{
			read: authorized, capture: {{status: 504, body: refusal(v1.CodeOutcomeUnknown)}},
		}, command.Uncertain, 4},
		{"capture refused by state", command.Capture{Target: number}, map[string][]response{
			read: authorized, capture: {{status: 409, body: refusalWith(v1.CodeNotCapturable, transaction("captured"))}},
		}, command.Refused, 1},
		{"capture declined", command.Capture{Target: number}, map[string][]response{
			read: authorized, capture: {{status: 402, body: refusal("acquirer_declined")}},
		}, command.Declined, 1},
		{"capture that failed", command.Capture{Target: number}, map[string][]response{
			read: authorized, capture: {{status: 201, body: of("failed", "100")}},
		}, command.Refused, 1},
		{"refund that failed", command.Refund{Target: number}, map[string][]response{
			read: authorized, "POST /v1/refunds": {{status: 201, body: back("failed", "100")}},
		}, command.Refused, 1},
		{
			"reading fails",
			command.Capture{Target: number},
			map[string][]response{read: {{status: 500}}},
			command.Unavailable,
			0,
		},
		{"reading is not allowed", command.Capture{Target: number}, map[string][]response{
			read: {{status: 403, body: refusal("insufficient_scope")}},
		}, command.Refused, 0},
		{"unknown to capture", command.Capture{Target: number}, nil, command.NotFound, 0},
		{"unknown to refund", command.Refund{Target: number}, nil, command.NotFound, 0},
		{"unknown to get", command.Get{Target: number}, nil, command.NotFound, 0},
		{"no number at all", command.Void{Target: "x"}, nil, command.NotFound, 0},
		{"get", command.Get{Target: number}, map[string][]response{read: authorized}, command.Done, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x, f := setup(t, tt.responses)
			r := run(t, x, tt.command)
			if got := r.Outcome; got != tt.want {
				t.Errorf("outcome: got %s, want %s", got, tt.want)
			}
			if got := len(f.posts()); got != tt.posts {
				t.Errorf("posts: got %d, want %d", got, tt.posts)
			}
		})
	}
}

func TestNumberOfARefund(t *testing.T) {
	t.Parallel()
	x, _ := setup(t, map[string][]response{"GET /v1/refunds/" + refund: {{status: 200, body: `{"id":"` + refund + `"}`}}})
	for _, c := range []command.Command{
		command.Void{Target: number}, command.Capture{Target: number}, command.Refund{Target: number},
	} {
		r := run(t, x, c)
		if r.Outcome != command.NotFound || r.Refund == nil || r.Refund.ID != refund {
			t.Errorf("%s: got %s and refund %v, want not_found with the refund", c.Kind(), r.Outcome, r.Refund)
		}
	}
}

func TestGetOfARefundsNumber(t *testing.T) {
	t.Parallel()
	const of = command.Number("60410000199")
	paid, err := id.Decimal(id.Transaction, string(of))
	if err != nil {
		t.Fatal(err)
	}
	x, f := setup(t, map[string][]response{
		"GET /v1/refunds/" + refund:    {{status: 200, body: `{"id":"` + refund + `","transaction":"` + paid + `"}`}},
		"GET /v1/transactions/" + paid: {{status: 200, body: `{"id":"` + paid + `"}`}},
	})
	r := run(t, x, command.Get{Target: number})
	if r.Outcome != command.Done || r.Refund == nil || r.Refund.ID != refund || r.Transaction == nil ||
		r.Transaction.ID != paid {
		t.Errorf("got %s, refund %v, transaction %v, want both", r.Outcome, r.Refund, r.Transaction)
	}
	if posts := f.posts(); len(posts) != 0 {
		t.Errorf("posts: got %v, want none", posts)
	}
}

// TestVoidRequires: a payment of another customer is not voided.
func TestVoidRequires(t *testing.T) {
	t.Parallel()
	customer := id.Format(id.Customer, 1)
	for _, tt := range []struct {
		of   string
		want command.Condition
	}{{customer, ""}, {id.Format(id.Customer, 2), command.ConditionSource}} {
		x, f := setup(t, map[string][]response{
			read: ok(transaction("captured", `"customer":"`+tt.of+`"`)), void: ok(transaction("voided")),
		})
		r := run(t, x, command.Void{Target: number, Require: command.Require{Customer: customer}})
		if r.Unmet != tt.want || (len(f.posts()) == 1) != (tt.want == "") {
			t.Errorf("%s: got unmet %q after %d posts, want %q", tt.of, r.Unmet, len(f.posts()), tt.want)
		}
	}
}
