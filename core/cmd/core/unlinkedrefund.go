package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/causeway-pay/causeway/core"
)

// unlinkedFlag adds the flag that says whether a merchant may refund what it was never paid, and returns what reads it: nil for no change.
func unlinkedFlag(f *flag.FlagSet) func() (*bool, error) {
	word := f.String("unlinked-refunds", "", "on or off")
	return func() (*bool, error) {
		on := *word == "on"
		switch *word {
		case "":
			return nil, nil //nolint:nilnil // not given
		case "on", "off":
			return &on, nil
		}
		return nil, fmt.Errorf("--unlinked-refunds %q: want on or off", *word)
	}
}

// changeMerchant changes what is given of a merchant.
func changeMerchant(ctx context.Context, a *core.Admin, merchant string, d core.Day, allow *bool) error {
	if err := a.SetDay(ctx, merchant, d); err != nil || allow == nil {
		return err
	}
	return a.SetUnlinkedRefunds(ctx, merchant, *allow)
}
