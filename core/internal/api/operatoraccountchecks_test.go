package api_test

import (
	"context"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// hangingCheck is a connector to a host that does not respond to checks.
type hangingCheck struct {
	account.Connector

	checks chan struct{} // receives each check
	end    chan struct{}
}

func (h hangingCheck) Check(context.Context) error {
	h.checks <- struct{}{}
	<-h.end
	return nil
}

// TestChecksOfAHangingHost: they leave slots to the other requests of an operator. Another check is
// refused at once.
func TestChecksOfAHangingHost(t *testing.T) {
	t.Parallel()
	host, checks, end := &coretest.Host{}, make(chan struct{}, 40), make(chan struct{})
	open := host.Kinds()[coretest.HostKind].Open
	b := openBundle(t, &bundle{rateLimit: -1, token: token, kinds: account.Kinds{
		coretest.HostKind: {Open: func(s account.Settings) (account.Connector, error) {
			c, err := open(s)
			return hangingCheck{c, checks, end}, err
		}},
	}})
	p := openPort(t, b)
	made := p.MustAddAccount(t, `,"unchecked":true`)
	check := accounts + "/" + made.ID + "/check"
	results := make(chan response)
	for range 4 {
		go func() { results <- p.post(t, check, "") }()
		<-checks
	}
	busy := refusal{503, v1.ErrorTypeAPIError, "overloaded", ""}
	rotate := accounts + "/" + made.ID + "/rotate"
	for range 20 {
		go func() { results <- p.post(t, check, "") }()
	}
	for range 20 {
		wantRefusal(t, <-results, busy)
	}
	wantRefusal(t, p.post(t, rotate, `{"credentials":{"key":"planted-next"}}`), busy)
	MustDecode[operator.Account](t, p.post(t, accounts+"/"+made.ID+"/disable", ""), 200)
	close(end)
	for range 4 {
		MustDecode[operator.AccountCheck](t, <-results, 200)
	}
	MustDecode[operator.AccountCheck](t, p.post(t, check, ""), 200)
}
