package main

import (
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
