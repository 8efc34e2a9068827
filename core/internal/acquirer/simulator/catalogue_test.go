package simulator_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestCatalogue_embeddedIsConfigs(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../../../../configs/simulator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(simulator.Embedded(), want) {
		t.Error("default.yaml differs from configs/simulator.yaml: run go generate")
	}
	mustOpen(t, simulator.Config{Catalogue: want})
}

func TestCatalogue_mistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, new string
		want           []string // the error must name each
	}{
		{"unknown key", "authorization_days: 7", "authorisation_days: 7", []string{"authorisation_days"}},
		{"unknown key of a card", "brand: visa", "brnad: visa", []string{"brnad"}},
		{"authorization_days", "authorization_days: 7", "authorization_days: 0", []string{"authorization_days: 0"}},
		{"fixture_years", "fixture_years: 4", "fixture_years: 40", []string{"fixture_years: 40"}},
		{"default", "default_payment_method: pm_card_visa", "default_payment_method: pm_card_none", []string{`"pm_card_none"`}},
		{"cvc check", `"900": {check: match,`, `"900": {check: maybe,`, []string{`cvcs "900"`, `"maybe"`}},
		{"cvc decline", `"900": {check: match,`, `"900": {check: match, decline_code: no,`, []string{`cvcs "900"`, "decline_code"}},
		{"cvc code", `code: M}`, `code: m}`, []string{`cvcs "900"`, `"m"`}},
		{"other cvc", "other_cvc: {check: not_processed", "other_cvc: {check: none", []string{"other_cvc", `"none"`}},
		{"other cvc code", "other_cvc: {check: not_processed, code: P}", "other_cvc: {check: not_processed}", []string{"other_cvc", "code"}},
		{
			"other cvc decline", "other_cvc: {", `other_cvc: {decline_code: lost_card, response_code: "41", `,
			[]string{"other_cvc", "without a decline_code"},
		},
		{"address code", `avs_code: "Y"`, `avs_code: "YY"`, []string{"avs_code", `"YY"`}},
		{"code of an address", `avs_code: A`, `avs_code: AA`, []string{`postal_codes "46201"`, `"AA"`}},
		{"3-D Secure code", `cavv_code: "2"`, `cavv_code: ""`, []string{"cavv_code"}},
		{"postal code", "address_line: match, postal_code: no_match,", "address_line: match,", []string{`postal_codes "46201"`}},
		{"own decline", "decline_code: card_not_supported", "decline_code: bad", []string{"declines: invalid_number", `"bad"`}},
		{"refusal operation", "operation: refund", "operation: credit", []string{"refusals, entry 2", "operation"}},
		{"refusal amount", "amount: 131313", "amount: 0", []string{"refusals, entry 2", "amount"}},
		{"refusal twice", "operation: refund, amount: 131313", "operation: capture, amount: 141414", []string{"refusals, entry 2", "once"}},
		{
			"disturbances", "fixture_years: 4", "fixture_years: 4\ndisturbances: [{kind: odd, share: 1}, {kind: slow, share: 0, delay_ms: 1}, " +
				"{kind: slow, share: 999}, {kind: late, share: 1, delay_ms: 1}, {kind: not_found, share: 1, delay_ms: 1}]",
			[]string{
				"entry 1 (odd): kind", "entry 2 (slow): share: 0", "entry 3 (slow): delay_ms: 0", "entry 4 (late): effect_ms: 0",
				"entry 5 (not_found): delay_ms: 1", "entry 5 (not_found): share: 1: want 1 or more, and at most 1000 in total",
			},
		},
		{"check digit", `"4242424242424242"`, `"4242424242424241"`, []string{"cards, entry 1 (pm_card_visa)", "check digit"}},
		{"number twice", `"4000056655665556"`, `"4242424242424242"`, []string{"cards, entry 2 (pm_card_visa_debit)", "number"}},
		{"name twice", "pm_card_visa_debit", "pm_card_visa", []string{"cards, entry 2 (pm_card_visa)", "payment_method"}},
		{"name", "pm_card_visa_debit", "visa_debit", []string{"cards, entry 2 (visa_debit)", "pm_card_"}},
		{"brand", "brand: amex", "brand: unknown", []string{"cards, entry 4 (pm_card_amex)", `"unknown"`}},
		{"outcome", "outcome: approve}", "outcome: perhaps}", []string{"cards, entry 1 (pm_card_visa)", `"perhaps"`}},
		{"approve with a decline code", "outcome: approve}", `outcome: approve, decline_code: lost_card}`, []string{"cards, entry 1", "outcome"}},
		{"response code", `decline, decline_code: insufficient_funds, response_code: "51"`, `decline, decline_code: insufficient_funds, response_code: "00"`, []string{"(pm_card_insufficient_funds)", "response_code"}},
		{"cvc_check", "cvc_check: no_match", "cvc_check: wrong", []string{"(pm_card_incorrect_cvc)", `"wrong"`}},
		{"behaviour", "behaviour: slow", "behaviour: sleepy", []string{"(pm_card_slow)", `"sleepy"`}},
		{"delay", "delay_ms: 5000", "delay_ms: 0", []string{"(pm_card_slow)", "delay_ms"}},
		{"no effect", ", effect_ms: 60000", "", []string{"(pm_card_late_approval)", "effect_ms: 0"}},
		{"needless effect", "delay_ms: 5000", "delay_ms: 5000, effect_ms: 1", []string{"(pm_card_slow)", "effect_ms"}},
		{"needless delay", "behaviour: unavailable}", "behaviour: unavailable, delay_ms: 1}", []string{"(pm_card_unavailable)", "delay_ms"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(string(simulator.Embedded()), c.old, c.new, 1)
			if text == string(simulator.Embedded()) {
				t.Fatalf("the catalogue has no %q", c.old)
			}
			_, err := simulator.Open(simulator.Config{Catalogue: []byte(text)})
			if err == nil {
				t.Fatal("got no error, want one")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to name %q", err, want)
				}
			}
		})
	}
}

func TestCatalogue_allMistakesAtOnce(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("brand: amex", "brand: amx", "fixture_years: 4", "fixture_years: 0").Replace(string(simulator.Embedded()))
	_, err := simulator.Open(simulator.Config{Catalogue: []byte(text)})
	if err == nil || strings.Count(err.Error(), "amx") != 3 || !strings.Contains(err.Error(), "fixture_years") {
		t.Errorf("got %v, want every mistake named", err)
	}
}

// TestCatalogue_knowsEveryDeclineCode fails if the contract has a code that no entry of the
// catalogue can return.
func TestCatalogue_knowsEveryDeclineCode(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("../../../../shared/v1/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(contract), "    DeclineCode:\n")
	_, section, _ = strings.Cut(section, "enum:\n")
	seen := 0
	for line := range strings.Lines(section) {
		code, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			break
		}
		seen++
		text := strings.ReplaceAll(string(simulator.Embedded()), "decline_code: lost_card", "decline_code: "+code)
		if _, err := simulator.Open(simulator.Config{Catalogue: []byte(text)}); err != nil {
			t.Errorf("%s: got %v, want no error", code, err)
		}
	}
	if seen < 14 {
		t.Errorf("got %d codes from the contract, want at least 14", seen)
	}
}

// TestCatalogue_brandsMatchTheNumbers: the documented brand of a test card is the brand that the
// service derives from its number.
func TestCatalogue_brandsMatchTheNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range mustOpen(t, simulator.Config{}).Fixtures() {
		number := secret.New(c.Number)
		if b := card.BrandOf(number); string(b) != c.Brand || !b.FitsNumber(number) {
			t.Errorf("%s: got %s with %d digits, want %s", c.Number, b, len(c.Number), c.Brand)
		}
	}
}
