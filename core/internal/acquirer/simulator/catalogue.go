package simulator

import (
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/config"
)

//go:generate cp ../../../../configs/simulator.yaml default.yaml

//go:embed default.yaml
var embedded []byte

// document is the catalogue as it is written. configs/simulator.yaml explains every key.
type document struct {
	DefaultPaymentMethod string                 `yaml:"default_payment_method"`
	AuthorizationDays    int                    `yaml:"authorization_days"`
	FixtureYears         int                    `yaml:"fixture_years"`
	CVCs                 map[string]cvcEntry    `yaml:"cvcs"`
	OtherCVC             cvcEntry               `yaml:"other_cvc"`
	PostalCodes          map[string]postalEntry `yaml:"postal_codes"`
	AVSCode              string                 `yaml:"avs_code"`
	CAVVCode             string                 `yaml:"cavv_code"`
	Declines             ownDeclines            `yaml:"declines"`
	Refusals             []refusalEntry         `yaml:"refusals"`
	BankAccounts         []bankAccountEntry     `yaml:"bank_accounts"`
	BankAccountLimit     limitEntry             `yaml:"bank_account_limit"`
	Cards                []cardEntry            `yaml:"cards"`
	Disturbances         []disturbanceEntry     `yaml:"disturbances"`
}

type declineEntry struct {
	DeclineCode  string `yaml:"decline_code"`
	ResponseCode string `yaml:"response_code"`
}

type cvcEntry struct {
	Check   string       `yaml:"check"`
	Code    string       `yaml:"code"`
	Decline declineEntry `yaml:",inline"`
}

type postalEntry struct {
	AddressLine string       `yaml:"address_line"`
	PostalCode  string       `yaml:"postal_code"`
	Code        string       `yaml:"avs_code"`
	Approve     int64        `yaml:"approve_amount"`
	Balance     *int64       `yaml:"balance"`
	Decline     declineEntry `yaml:",inline"`
}

type ownDeclines struct {
	ExpiredCard   declineEntry `yaml:"expired_card"`
	InvalidNumber declineEntry `yaml:"invalid_number"`
	Voided        declineEntry `yaml:"voided"`
	TooLittle     declineEntry `yaml:"too_little"`
}

type refusalEntry struct {
	Operation string       `yaml:"operation"`
	Amount    int64        `yaml:"amount"`
	Decline   declineEntry `yaml:",inline"`
}

type cardEntry struct {
	PaymentMethod string       `yaml:"payment_method"`
	Number        string       `yaml:"number"`
	Brand         string       `yaml:"brand"`
	Outcome       string       `yaml:"outcome"`
	CVCCheck      string       `yaml:"cvc_check"`
	Behaviour     string       `yaml:"behaviour"`
	DelayMS       int64        `yaml:"delay_ms"`
	EffectMS      int64        `yaml:"effect_ms"`
	Decline       declineEntry `yaml:",inline"`
}

// catalogue is a document made ready for use. It does not change.
type catalogue struct {
	defaultPaymentMethod string
	authorization        time.Duration
	fixtureYears         int
	cvcs                 map[string]cvcRule
	otherCVC             cvcRule
	postalCodes          map[string]postalRule
	avsCode, cavvCode    byte
	expired              verdict
	invalidNumber        verdict
	voided               verdict
	tooLittle            verdict
	refusals             map[step]verdict
	bankAccounts         map[string]verdict // by number
	bankAccountLimit     int64              // 0 for none
	overLimit            verdict
	cards                map[string]card // by number
	testCards            []TestCard      // in the order of the document
	triggers             []Trigger
	numbers              map[string]string
	disturbances         []disturbance
}

type cvcRule struct {
	check   check
	code    byte // the network's; 0 for none
	verdict verdict
}

type postalRule struct {
	addressLine, postalCode check
	code                    byte  // the network's; 0 for none
	approve                 int64 // the largest approved amount; 0 for no limit
	balance                 acquirer.Balance
	verdict                 verdict
}

// step is a follow-up of exactly this amount.
type step struct {
	kind   kind
	amount int64
}

// loadCatalogue reads text strictly. Its error joins one error per wrong entry, and each names the
// entry.
func loadCatalogue(text []byte) (*catalogue, error) {
	var doc document
	if err := config.Decode("simulator.yaml", text, &doc); err != nil {
		return nil, err
	}
	c := &catalogue{
		defaultPaymentMethod: doc.DefaultPaymentMethod,
		authorization:        time.Duration(doc.AuthorizationDays) * 24 * time.Hour,
		fixtureYears:         doc.FixtureYears,
		cvcs:                 make(map[string]cvcRule, len(doc.CVCs)),
		postalCodes:          make(map[string]postalRule, len(doc.PostalCodes)),
		refusals:             make(map[step]verdict, len(doc.Refusals)),
		bankAccounts:         make(map[string]verdict, len(doc.BankAccounts)),
		cards:                make(map[string]card, len(doc.Cards)),
		numbers:              make(map[string]string, len(doc.Cards)),
		triggers:             doc.triggers(),
	}
	if err := errors.Join(
		c.addCards(doc), c.addGeneral(doc), c.addChecks(doc), c.addDeclines(doc.Declines), c.addRefusals(doc.Refusals),
		c.addBankAccounts(doc.BankAccounts), c.addBankAccountLimit(doc.BankAccountLimit),
		c.addDisturbances(doc.Disturbances),
	); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *catalogue) addGeneral(doc document) error {
	var errs []error
	if doc.AuthorizationDays < 1 || doc.AuthorizationDays > 365 {
		errs = append(errs, fmt.Errorf("authorization_days: %d: want 1 to 365", doc.AuthorizationDays))
	}
	if doc.FixtureYears < 1 || doc.FixtureYears > 20 {
		errs = append(errs, fmt.Errorf("fixture_years: %d: want 1 to 20", doc.FixtureYears))
	}
	if _, ok := c.numbers[doc.DefaultPaymentMethod]; !ok {
		errs = append(errs, fmt.Errorf("default_payment_method: %q is not one of the cards", doc.DefaultPaymentMethod))
	}
	return errors.Join(errs...)
}

func (c *catalogue) addDeclines(own ownDeclines) error {
	var errs [4]error
	c.expired, errs[0] = own.ExpiredCard.required("declines: expired_card")
	c.invalidNumber, errs[1] = own.InvalidNumber.required("declines: invalid_number")
	c.voided, errs[2] = own.Voided.required("declines: voided")
	c.tooLittle, errs[3] = own.TooLittle.required("declines: too_little")
	return errors.Join(errs[:]...)
}

func (c *catalogue) addRefusals(entries []refusalEntry) error {
	kinds := map[string]kind{"capture": capture, "refund": refund, "void": void}
	var errs []error
	for i, entry := range entries {
		name := fmt.Sprintf("refusals, entry %d (%s %d)", i+1, entry.Operation, entry.Amount)
		k, ok := kinds[entry.Operation]
		if !ok {
			errs = append(errs, fmt.Errorf("%s: operation: want capture, refund or void", name))
		}
		at := step{kind: k, amount: entry.Amount}
		if _, twice := c.refusals[at]; twice || entry.Amount < 1 {
			errs = append(errs, fmt.Errorf("%s: amount: want a number above 0, and each amount once for an operation", name))
		}
		verdict, err := entry.Decline.required(name)
		errs = append(errs, err)
		c.refusals[at] = verdict
	}
	return errors.Join(errs...)
}

func (e postalEntry) checkAmount() error {
	declines := e.Decline != (declineEntry{})
	if e.Approve < 0 || e.Approve > 0 && declines {
		return errors.New("approve_amount: want a number above 0, without a decline_code")
	}
	if e.Balance != nil && declines {
		return errors.New("balance: want it without a decline_code")
	}
	return nil
}

func (e postalEntry) balance() acquirer.Balance {
	if e.Balance == nil {
		return acquirer.Balance{}
	}
	return acquirer.Balance{Given: true, Amount: *e.Balance}
}

func (d declineEntry) optional() (verdict, error) {
	if d == (declineEntry{}) {
		return approved, nil
	}
	return newVerdict(d.DeclineCode, d.ResponseCode)
}

func (d declineEntry) required(name string) (verdict, error) {
	v, err := newVerdict(d.DeclineCode, d.ResponseCode)
	if err != nil {
		return approved, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}
