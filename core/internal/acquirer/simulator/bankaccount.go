package simulator

import (
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/bankaccount"
)

type bankAccountEntry struct {
	AccountNumber string       `yaml:"account_number"`
	Outcome       string       `yaml:"outcome"`
	Decline       declineEntry `yaml:",inline"`
}

type limitEntry struct {
	Amount  int64        `yaml:"amount"`
	Decline declineEntry `yaml:",inline"`
}

func (c *catalogue) addBankAccounts(entries []bankAccountEntry) error {
	var errs []error
	for i, entry := range entries {
		verdict, err := cardEntry{Outcome: entry.Outcome, Decline: entry.Decline}.verdict()
		if !bankaccount.ValidNumber(entry.AccountNumber) {
			err = errors.Join(errors.New("account_number: want 4 to 17 digits"), err)
		}
		if _, twice := c.bankAccounts[entry.AccountNumber]; twice {
			err = errors.Join(errors.New("account_number: an earlier account has the same"), err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("bank_accounts, entry %d: %w", i+1, err))
		}
		c.bankAccounts[entry.AccountNumber] = verdict
	}
	return errors.Join(errs...)
}

// addBankAccountLimit adds the optional limit.
func (c *catalogue) addBankAccountLimit(entry limitEntry) error {
	if entry == (limitEntry{}) {
		return nil
	}
	if entry.Amount < 1 {
		return errors.New("bank_account_limit: amount: want 1 or more")
	}
	var err error
	c.bankAccountLimit = entry.Amount
	c.overLimit, err = entry.Decline.required("bank_account_limit")
	return err
}

// judgeBankAccount decides a debit of a bank account, first by the account, then by the amount.
func (s *Simulator) judgeBankAccount(a acquirer.BankAccount, amount int64) verdict {
	c := s.catalogue
	switch v := c.bankAccounts[a.Number.Reveal()]; {
	case !bankaccount.ValidRouting(a.RoutingNumber):
		return c.invalidNumber
	case v != approved:
		return v
	case c.bankAccountLimit > 0 && amount > c.bankAccountLimit:
		return c.overLimit
	}
	return approved
}
