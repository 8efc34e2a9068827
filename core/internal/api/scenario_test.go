package api_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// scenarios is the simulator's catalogue, read without the simulator's own code, so that the tests
// follow the published catalogue.
type scenarios struct {
	CVCs        map[string]scenario `yaml:"cvcs"`
	OtherCVC    scenario            `yaml:"other_cvc"`
	AVSCode     string              `yaml:"avs_code"`
	CAVVCode    string              `yaml:"cavv_code"`
	PostalCodes map[string]scenario `yaml:"postal_codes"`
	Refusals    []scenario          `yaml:"refusals"`
	Cards       []scenario          `yaml:"cards"`
	Accounts    []scenario          `yaml:"bank_accounts"`
	Limit       scenario            `yaml:"bank_account_limit"`

	DefaultPaymentMethod string         `yaml:"default_payment_method"`
	AuthorizationDays    int            `yaml:"authorization_days"`
	FixtureYears         int            `yaml:"fixture_years"`
	Declines             map[string]any `yaml:"declines"`
}

// scenario is an entry of any of the lists.
type scenario struct {
	PaymentMethod string         `yaml:"payment_method"`
	Number        string         `yaml:"number"`
	Account       string         `yaml:"account_number"`
	Brand         v1.CardBrand   `yaml:"brand"`
	Outcome       string         `yaml:"outcome"`
	Operation     string         `yaml:"operation"`
	Amount        int64          `yaml:"amount"`
	Approve       int64          `yaml:"approve_amount"`
	Balance       *int64         `yaml:"balance"`
	Code          string         `yaml:"code"`
	AVSCode       string         `yaml:"avs_code"`
	DeclineCode   v1.DeclineCode `yaml:"decline_code"`
	ResponseCode  string         `yaml:"response_code"`
	Check         v1.CheckResult `yaml:"check"`
	CVCCheck      v1.CheckResult `yaml:"cvc_check"`
	AddressLine   v1.CheckResult `yaml:"address_line"`
	PostalCode    v1.CheckResult `yaml:"postal_code"`
	Behaviour     string         `yaml:"behaviour"`
	DelayMS       int            `yaml:"delay_ms"`
	EffectMS      int            `yaml:"effect_ms"`
}

func MustScenarios(t *testing.T) scenarios {
	t.Helper()
	var s scenarios
	if err := config.Load("../../../configs/simulator.yaml", &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// want checks the outcome of a create, declined or approved as in the entry, and returns the
// transaction.
func (s scenario) want(t *testing.T, b *bundle, a response) v1.Transaction {
	t.Helper()
	if s.DeclineCode == "" {
		got := MustDecode[v1.Transaction](t, a, 201)
		if got.Authorization.ResponseCode != "00" || got.DeclineCode != nil {
			t.Errorf("got %+v, want it approved", got.Authorization)
		}
		return got
	}
	e := wantRefusal(t, a, refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
	if e.DeclineCode == nil || *e.DeclineCode != s.DeclineCode || e.Transaction == nil || e.Transaction.Authorization.ResponseCode != s.ResponseCode {
		t.Fatalf("got %s, want %s (%s)", a.body, s.DeclineCode, s.ResponseCode)
	}
	return b.wantTransaction(t, e.Transaction.ID, v1.TransactionStatusDeclined, amounts{})
}

// typed returns a create of 500 with a card number, and further members of the card and of the
// body.
func typed(number, card, more string) string {
	return `{"amount":500,"currency":"usd","payment_method":"card","card":{"number":"` + number + `","exp_month":12,"exp_year":2030` + card + `}` + more + `}`
}

func TestScenarioCards(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, s := range MustScenarios(t).Cards {
		if s.Behaviour != "" {
			continue
		}
		t.Run(cmp.Or(s.PaymentMethod, s.Number[len(s.Number)-4:]), func(t *testing.T) {
			t.Parallel()
			bodies := []string{typed(s.Number, "", "")}
			if s.PaymentMethod != "" {
				bodies = append(bodies, create1(s.PaymentMethod, ""))
			}
			for _, body := range bodies {
				got := s.want(t, b, b.post(t, "/v1/transactions", body))
				if got.Card.Brand != s.Brand || got.Card.Last4 != s.Number[len(s.Number)-4:] {
					t.Errorf("got %+v, want %s", got.Card, s.Brand)
				}
				if s.CVCCheck != "" && got.Checks.Cvc != s.CVCCheck {
					t.Errorf("cvc: got %s, want %s", got.Checks.Cvc, s.CVCCheck)
				}
			}
		})
	}
}

func TestScenarioChecks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := MustScenarios(t)
	all.CVCs["123"] = all.OtherCVC
	for cvc, s := range all.CVCs {
		t.Run("cvc "+cvc, func(t *testing.T) {
			t.Parallel()
			got := s.want(t, b, b.post(t, "/v1/transactions", typed("4111111111111111", `,"cvc":"`+cvc+`"`, "")))
			if got.Checks.Cvc != s.Check {
				t.Errorf("got %s, want %s", got.Checks.Cvc, s.Check)
			}
			wantCodes(t, got, "", s.Code, "")
		})
	}
	for code, s := range all.PostalCodes {
		t.Run("postal code "+code, func(t *testing.T) {
			t.Parallel()
			billing := `,"billing":{"address":{"line1":"1 Main Street","postal_code":"` + code + `"}}`
			got := s.want(t, b, b.post(t, "/v1/transactions", typed("4111111111111111", "", billing+partially)))
			if got.Checks.AddressLine != s.AddressLine || got.Checks.PostalCode != s.PostalCode || got.Checks.Cvc != "not_provided" {
				t.Errorf("got %+v, want %s and %s", got.Checks, s.AddressLine, s.PostalCode)
			}
			wantCodes(t, got, cmp.Or(s.AVSCode, all.AVSCode), "", "")
			if want := cmp.Or(s.Approve, 500); s.DeclineCode == "" && got.AmountAuthorized != want {
				t.Errorf("authorized: got %d, want %d", got.AmountAuthorized, want)
			}
			if left := got.Authorization.Balance; (left == nil) != (s.Balance == nil) || left != nil && *left != *s.Balance {
				t.Errorf("balance: got %v, want %v", left, s.Balance)
			}
			if s.Approve > 0 { // without permission for a partial approval, the payment is declined
				tooLittle := scenario{DeclineCode: "insufficient_funds", ResponseCode: "51"}
				tooLittle.want(t, b, b.post(t, "/v1/transactions", typed("4111111111111111", "", billing)))
			}
		})
	}
}

func TestScenarioBankAccounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := MustScenarios(t)
	debit := func(account string, amount int64) response {
		return b.post(t, "/v1/transactions", fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":"bank_account","bank_account":{"account_number":"%s",
			"routing_number":"110000000","account_type":"checking","holder":"A. Payer"}}`, amount, account))
	}
	for _, s := range all.Accounts {
		s.want(t, b, debit(s.Account, 500))
	}
	scenario{}.want(t, b, debit("99887766", all.Limit.Amount))
	all.Limit.want(t, b, debit("99887766", all.Limit.Amount+1))
}

// TestScenarioRefusals: a follow-up that the acquirer refuses does not change the transaction.
// Another amount succeeds.
func TestScenarioRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	refused := refusal{402, v1.ErrorTypeCardError, "acquirer_declined", ""}
	for _, s := range MustScenarios(t).Refusals {
		t.Run(s.Operation, func(t *testing.T) {
			t.Parallel()
			amount := fmt.Sprintf(`"amount":%d`, s.Amount)
			switch s.Operation {
			case "capture":
				txn := b.MustCreate(t, s.Amount+1, manual).ID
				wantRefusal(t, b.capture(t, txn, `{`+amount+`}`), refused)
				b.wantTransaction(t, txn, v1.TransactionStatusAuthorized, amounts{s.Amount + 1, 0, 0, s.Amount + 1, 0})
				MustDecode[v1.Capture](t, b.capture(t, txn, ""), 201)
			case "refund":
				txn := b.MustCreate(t, s.Amount+1, "").ID
				wantRefusal(t, b.refund(t, txn, `,`+amount), refused)
				b.wantTransaction(t, txn, v1.TransactionStatusCaptured, amounts{s.Amount + 1, s.Amount + 1, 0, 0, s.Amount + 1})
				MustDecode[v1.Refund](t, b.refund(t, txn, ""), 201)
			case "void":
				txn := b.MustCreate(t, s.Amount, manual).ID
				wantRefusal(t, b.void(t, txn), refused)
				b.wantTransaction(t, txn, v1.TransactionStatusAuthorized, amounts{s.Amount, 0, 0, s.Amount, 0})
				MustDecode[v1.Capture](t, b.capture(t, txn, ""), 201)
			default:
				t.Errorf("nothing tests %q", s.Operation)
			}
		})
	}
}

// TestScenarioBehaviours: late, lost and unavailable responses have their errors, and a lost
// outcome is found after a restart.
func TestScenarioBehaviours(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	found := map[string]v1.TransactionStatus{}
	for _, s := range MustScenarios(t).Cards {
		a := response{}
		if s.Behaviour != "" {
			a = b.post(t, "/v1/transactions", create1(s.PaymentMethod, manual))
		}
		switch s.Behaviour {
		case "":
		case "slow":
			s.want(t, b, a)
		case "unavailable":
			wantRefusal(t, a, refusal{503, v1.ErrorTypeAPIError, "acquirer_unavailable", ""})
		case "timeout_before", "timeout_after", "late":
			e := wantRefusal(t, a, refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""})
			found[e.Transaction.ID] = v1.TransactionStatusFailed
			if s.Behaviour == "timeout_after" {
				found[e.Transaction.ID] = v1.TransactionStatusAuthorized
			}
		default:
			t.Errorf("nothing tests %q", s.Behaviour)
		}
	}
	b.restart(t)
	for id, want := range found {
		if got := b.resolved(t, id); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
	if len(found) != 3 {
		t.Errorf("got %d lost payments, want 3", len(found))
	}
}

// resolved waits until a payment has an outcome. On a busy machine a start serves before it has
// resolved all of them.
func (b *bundle) resolved(t *testing.T, id string) (got v1.TransactionStatus) {
	t.Helper()
	programtest.WaitFor(t, "the payment has an outcome", func() bool {
		got = b.transaction(t, id).Status
		return got != v1.TransactionStatusUnknown && got != v1.TransactionStatusProcessing
	})
	return got
}

// MustHurryCatalogue writes the shipped catalogue with all its delays cut to a time.
func MustHurryCatalogue(tb testing.TB, delay time.Duration) string {
	tb.Helper()
	shipped, err := os.ReadFile("../../../configs/simulator.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "simulator.yaml")
	hurried := regexp.MustCompile(`delay_ms: \d+`).ReplaceAll(shipped, fmt.Appendf(nil, "delay_ms: %d", delay.Milliseconds()))
	if err := os.WriteFile(path, hurried, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}
