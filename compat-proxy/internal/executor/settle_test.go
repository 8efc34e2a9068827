package executor_test

import (
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestRefusalsThatSettleALostAttempt: an attempt had no response, and the next one is refused. The
// refusal proves that nothing was done only if v1 looked the Idempotency-Key up before it. V1 must
// also refuse any equal request from then on.
func TestRefusalsThatSettleALostAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string // "" for a response that is not v1's
		want   command.Outcome
	}{
		{400, v1.CodeExpiredCard, command.Refused},
		{400, "token_used", command.Refused},
		{400, v1.CodeUnknownCustomer, command.Refused},
		{400, v1.CodeExceedsCapturable, command.Refused},
		{403, v1.CodeUnlinkedRefunds, command.Refused},
		{404, "not_found", command.NotFound},
		{409, v1.CodeNotCapturable, command.Refused},
		{409, v1.CodeVersionConflict, command.Refused},
		{422, v1.CodeKeyReused, command.Uncertain},
		{402, "card_declined", command.Declined},
		{409, v1.CodeOperationInProgress, command.Uncertain},
		{502, v1.CodeNotProcessed, command.Uncertain},
		{503, v1.CodeAcquirerNotConfigured, command.Uncertain},
		{503, v1.CodeAcquirerUnavailable, command.Uncertain},
		{400, "body_not_received", command.Uncertain},
		{400, "a_code_of_tomorrow", command.Uncertain},
		{400, "", command.Uncertain},
		{403, "", command.Uncertain},
		{404, "", command.Uncertain},
		{409, "", command.Uncertain},
		{422, "", command.Uncertain},
		{400, "invalid_json", command.Uncertain},
		{400, "mle_required", command.Uncertain},
		{400, "mle_decrypt_failed", command.Uncertain},
		{401, "invalid_api_key", command.Uncertain},
		{403, v1.CodeMerchantDisabled, command.Uncertain},
		{403, "insufficient_scope", command.Uncertain},
		{403, "not_through_filter", command.Uncertain},
		{403, "publishable_key_not_allowed", command.Uncertain},
		{404, "route_not_found", command.Uncertain},
		{409, v1.CodeKeyInUse, command.Uncertain},
		{413, "body_too_large", command.Uncertain},
		{415, "unsupported_media_type", command.Uncertain},
	} {
		second := response{status: c.status, body: "<html>"}
		if c.code != "" {
			second.body = refusal(c.code)
		}
		x, _ := setup(t, map[string][]response{create: {{}, second}})
		if got := run(t, x, charge).Outcome; got != c.want {
			t.Errorf("%d %q after a lost response: got %s, want %s", c.status, c.code, got, c.want)
		}
	}
}

// TestSettlingRefusals: after a lost attempt, each code that v1 lists as settling ends the command
// with its refusal. The command is then repeated without a loss, and has the same result.
func TestSettlingRefusals(t *testing.T) {
	t.Parallel()
	statuses := map[string]int{
		"expired_card": 400, "token_used": 400, "token_expired": 400, "token_code_lost": 400,
		"unlinked_refunds_not_allowed": 403, "invalid_client_secret": 403, "too_many_confirmations": 409,
		"too_many_payment_methods": 409, "too_many_shipping_addresses": 409, "webhook_endpoint_limit": 409,
		"webhook_endpoint_disabled": 409, "last_api_key": 409, "api_key_limit": 409, "not_found": 404,
		"unknown_payment_method": 400,
		"unknown_customer":       400, "unknown_field": 400, "duplicate_field": 400, "missing_field": 400,
		"invalid_type": 400, "invalid_value": 400, "invalid_amount": 400, "unknown_currency": 400,
		"invalid_card_number": 400, "invalid_cvc": 400, "card_declined": 402, "acquirer_declined": 402,
		"version_conflict": 409, "transaction_not_capturable": 409, "transaction_not_voidable": 409,
		"transaction_not_refundable": 409, "amount_exceeds_capturable": 400, "amount_exceeds_refundable": 400,
	}
	got, want := slices.Sorted(slices.Values(v1.SettlingRefusals())), slices.Sorted(maps.Keys(statuses))
	if !slices.Equal(got, want) {
		t.Errorf("the codes that settle: got %q, want %q", got, want)
	}
	for code, status := range statuses {
		refused := response{status: status, body: refusal(code)}
		lost, f := setup(t, map[string][]response{create: {{}, refused}})
		first := run(t, lost, charge)
		keys := f.posts()
		if len(keys) < 2 || keys[0].key == "" || keys[0].key != keys[1].key {
			t.Errorf("%s: got %+v, want the second attempt under the first key", code, keys)
		}
		plain, _ := setup(t, map[string][]response{create: {refused}})
		again := run(t, plain, charge)
		if first.Outcome == command.Uncertain || first.Outcome != again.Outcome || first.Code != again.Code {
			t.Errorf("%s: got %s %s after a lost attempt, %s %s without", code, first.Outcome, first.Code, again.Outcome,
				again.Code)
		}
	}
}

// TestVersionConflictSettlesALostAttempt: v1 stores the conflict under the key, so the lost attempt
// did nothing and never will. The void stays rejected, even if the payment changes again.
func TestVersionConflictSettlesALostAttempt(t *testing.T) {
	t.Parallel()
	conflict := refusalWith(v1.CodeVersionConflict, transaction("captured"))
	x, f := setup(t, map[string][]response{void: {{}, {status: http.StatusConflict, body: conflict}}})
	r := run(t, x, command.Void{Target: number, Expected: new(int64(1))})
	if r.Outcome != command.Refused || r.Code != v1.CodeNotVoidable || r.Transaction == nil {
		t.Errorf("got %s %q %v, want a refusal with the payment", r.Outcome, r.Code, r.Transaction)
	}
	if keys := f.posts(); len(keys) != 2 || keys[0].key != keys[1].key {
		t.Errorf("got %+v, want two attempts under one key", keys)
	}
}

// TestLateFirstAttempt: the first attempt is delayed on its way to v1 until the proxy has abandoned
// it. The second attempt leaves the key free, so the first one then pays.
func TestLateFirstAttempt(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{v1.CodeAcquirerUnavailable: 503, "body_not_received": 400} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			decided, paid := make(chan struct{}), make(chan struct{})
			server := goldentest.Serve(t, goldentest.Identified(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if requests.Add(1) == 1 {
					<-decided
					close(paid)
					return
				}
				w.WriteHeader(status)
				_, _ = w.Write([]byte(refusal(code)))
			})))
			x, err := executor.New(executor.Config{
				V1: v1client.Config{
					URL: server.URL, Transport: server.Client().Transport, Backoff: time.Microsecond,
					CallTimeout: 5 * time.Second, // a busy machine takes some of it for the second attempt
				},
				DeduplicationSecret: goldentest.Secret(),
			})
			if err != nil {
				t.Fatal(err)
			}
			got := run(t, x, charge)
			close(decided)
			<-paid
			if got.Outcome != command.Uncertain {
				t.Errorf("the first attempt pays: got %s %s, want %s", got.Outcome, got.Code, command.Uncertain)
			}
		})
	}
}

// TestUnavailableAcquirerOrV1: only some codes of a 503 prove that the request had no effect.
func TestUnavailableAcquirerOrV1(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]command.Outcome{
		"overloaded":                 command.Unavailable,
		v1.CodeAcquirerNotConfigured: command.Unavailable,
		v1.CodeAcquirerUnavailable:   command.Unavailable,
		"store_unavailable":          command.Uncertain, // the commit may have taken place
		"mle_unavailable":            command.Uncertain,
		"a_code_of_tomorrow":         command.Uncertain,
	} {
		x, _ := setup(t, map[string][]response{create: {{status: http.StatusServiceUnavailable, body: refusal(code)}}})
		if got := run(t, x, charge).Outcome; got != want {
			t.Errorf("503 %s: got %s, want %s", code, got, want)
		}
	}
}

// TestBusyAfterALostAttempt: a command that waits for another operation on the payment sends its
// request again. Its result still depends on the earlier lost attempt.
func TestBusyAfterALostAttempt(t *testing.T) {
	t.Parallel()
	busy := response{status: http.StatusConflict, body: refusal(v1.CodeOperationInProgress)}
	down := response{status: http.StatusServiceUnavailable, body: refusal(v1.CodeAcquirerUnavailable)}
	for name, tt := range map[string]struct {
		responses []response
		want      command.Outcome
	}{
		"lost, busy, acquirer down": {[]response{{}, busy, down}, command.Uncertain},
		"busy, acquirer down":       {[]response{busy, down}, command.Unavailable},
		"lost, busy, done": {
			[]response{{}, busy, {status: http.StatusOK, body: transaction("voided")}},
			command.Done,
		},
	} {
		x, _ := setup(t, map[string][]response{void: tt.responses})
		if got := run(t, x, command.Named{Command: command.Void{Target: number}, Name: "n"}).Outcome; got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// TestUnsent: a gateway's 503 means that nothing was done only if the gateway proves that it sent
// nothing. It proves nothing about earlier attempts.
func TestUnsent(t *testing.T) {
	t.Parallel()
	gateway := response{status: 503, body: refusal("service_unavailable")}
	unsent := gateway
	unsent.unsent = true
	afterCommit := response{status: 502, body: refusal("response_lost"), unsent: true}
	for name, c := range map[string]struct {
		responses []response
		want      command.Outcome
	}{
		"unsent":                      {[]response{unsent}, command.Unavailable},
		"no proof":                    {[]response{gateway}, command.Uncertain},
		"unsent after a lost attempt": {[]response{{}, unsent}, command.Uncertain},
		"unsent after no proof":       {[]response{gateway, unsent}, command.Uncertain},
		"a lost response":             {[]response{afterCommit}, command.Uncertain},
	} {
		x, _ := setup(t, map[string][]response{create: c.responses})
		if got := run(t, x, charge).Outcome; got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
