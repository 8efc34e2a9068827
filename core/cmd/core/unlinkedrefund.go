package main

import (
	"flag"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/admin"
)

// changeFlags adds the flags that change a merchant. The returned function reads them.
func changeFlags(f *flag.FlagSet) func() (admin.MerchantChange, error) {
	day, unlinked := dayFlags(f), unlinkedFlag(f)
	name := f.String("name", "", "its new name")
	personal := f.Int("keep-personal-data", notGiven, "days, 0 for the period of the service")
	customers := f.Int("keep-customers", notGiven, "days, 0 for the period of the service")
	return func() (admin.MerchantChange, error) {
		d, err := day()
		if err != nil {
			return admin.MerchantChange{}, err
		}
		allow, err := unlinked()
		return admin.MerchantChange{Name: *name, Day: d, UnlinkedRefunds: allow, KeepPersonal: given(*personal), KeepCustomers: given(*customers)}, err
	}
}

// notGiven is the value of a flag for days that is not set.
const notGiven = -1

// given returns the value of a flag, or nil if it is not set.
func given(days int) *int {
	if days == notGiven {
		return nil
	}
	return &days
}

// unlinkedFlag adds the flag that allows or forbids refunds without a payment. The returned
// function reads it; nil changes nothing.
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

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
