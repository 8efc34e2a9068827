package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// addChecks adds the results of the checks of security codes, addresses and 3-D Secure values.
func (c *catalogue) addChecks(doc document) error {
	var err error
	if c.otherCVC, err = doc.OtherCVC.rule(); err != nil || c.otherCVC.verdict != approved {
		err = errors.Join(errors.New("other_cvc: want a check and a code, without a decline_code"), err)
	}
	errs := []error{err}
	for _, value := range slices.Sorted(maps.Keys(doc.CVCs)) {
		rule, err := doc.CVCs[value].rule()
		if err != nil {
			errs = append(errs, fmt.Errorf("cvcs %q: %w", value, err))
		}
		c.cvcs[value] = rule
	}
	if c.avsCode, err = parseCode(doc.AVSCode); err != nil {
		errs = append(errs, fmt.Errorf("avs_code: %w", err))
	}
	if c.cavvCode, err = parseCode(doc.CAVVCode); err != nil {
		errs = append(errs, fmt.Errorf("cavv_code: %w", err))
	}
	for _, value := range slices.Sorted(maps.Keys(doc.PostalCodes)) {
		rule, err := doc.PostalCodes[value].rule(doc.AVSCode)
		if err != nil {
			errs = append(errs, fmt.Errorf("postal_codes %q: %w", value, err))
		}
		c.postalCodes[value] = rule
	}
	return errors.Join(errs...)
}

func (e cvcEntry) rule() (cvcRule, error) {
	result, errCheck := parseCheck(e.Check)
	code, errCode := parseCode(e.Code)
	verdict, errDecline := e.Decline.optional()
	return cvcRule{check: result, code: code, verdict: verdict}, errors.Join(errCheck, errCode, errDecline)
}

// rule returns the rule of the entry. Without a code, the entry has the code of an address that
// matches.
func (e postalEntry) rule(matches string) (postalRule, error) {
	line, errLine := parseCheck(e.AddressLine)
	postal, errPostal := parseCheck(e.PostalCode)
	code, errCode := parseCode(cmp.Or(e.Code, matches))
	verdict, errDecline := e.Decline.optional()
	rule := postalRule{addressLine: line, postalCode: postal, code: code, approve: e.Approve, balance: e.balance(), verdict: verdict}
	return rule, errors.Join(errLine, errPostal, errCode, errDecline, e.checkAmount())
}

func parseCheck(name string) (check, error) {
	c, ok := checkNames[v1.CheckResult(name)]
	if !ok {
		return 0, fmt.Errorf("check %q: want match, no_match, unavailable, not_provided or not_processed", name)
	}
	return c, nil
}

func parseCode(code string) (byte, error) {
	if len(code) != 1 || !upperAlphanumeric(code) {
		return 0, fmt.Errorf("code %q: want one capital letter or digit", code)
	}
	return code[0], nil
}
