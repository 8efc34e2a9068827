package main

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

func TestMerchantsUnlinkedRefunds(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	merchant := MustPrint(t, "merchants", "create", "Shop", "--data", data, "--cutoff", "17:30")
	db := coretest.MustInspect(t, data+"/causeway.db")
	for _, step := range []struct {
		args []string
		want string
	}{
		{nil, "0 1050"},
		{[]string{"--unlinked-refunds", "on"}, "1 1050"},
		{[]string{"--cutoff=02:05"}, "1 125"},
		{[]string{"--unlinked-refunds=off", "--time-zone", "Asia/Tokyo"}, "0 125"},
	} {
		if step.args != nil {
			if got := MustPrint(t, append([]string{"merchants", "update", merchant, "--data", data}, step.args...)...); got != merchant {
				t.Errorf("got %q, want %q", got, merchant)
			}
		}
		var got string
		if err := db.QueryRowContext(t.Context(), "SELECT unlinked_refunds || ' ' || cutoff FROM merchants").Scan(&got); err != nil || got != step.want {
			t.Errorf("%v: got %q, %v, want %q", step.args, got, err, step.want)
		}
	}
	other := MustPrint(t, "merchants", "create", "Another", "--data", data, "--unlinked-refunds", "on")
	var on int
	if err := db.QueryRowContext(t.Context(), "SELECT SUM(unlinked_refunds) FROM merchants").Scan(&on); err != nil || on != 1 || other == merchant {
		t.Errorf("got %d, %v, want the other one alone", on, err)
	}
}

// TestMerchantsWrongSettings: the message names the field and the allowed values.
func TestMerchantsWrongSettings(t *testing.T) {
	t.Parallel()
	for want, flags := range map[string][]string{
		"--name: want 1 to 200 characters, got 0":                                                 {"--name", ""},
		"--time-zone: want an IANA name such as Europe/Vienna":                                    {"--time-zone", "Local"},
		"--cutoff: want two digits each, 00:00 to 23:59":                                          {"--cutoff", "1:00"},
		"--keep-customers: want 60 to 36525 days, or 0 for the period of the service, got 59":     {"--keep-customers", "59"},
		"--keep-personal-data: want 60 to 36525 days, or 0 for the period of the service, got -1": {"--keep-personal-data=-1"},
		`merchants: invalid value "maybe" for flag -unlinked-refunds: want on or off`:             {"--unlinked-refunds", "maybe"},
	} {
		args := append([]string{"merchants", "update", "mer_0000000000001", "--data", t.TempDir()}, flags...)
		if code, _, stderr := run(t, args...); code != 2 || !strings.HasPrefix(stderr, "core: "+want+"\n") {
			t.Errorf("%v: got %d, %q, want %q", flags, code, stderr, want)
		}
	}
}
