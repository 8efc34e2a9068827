package api

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
)

func (a *API) testHelperRoutes() []route {
	return []route{
		{http.MethodPost, "/v1/test_helpers/transactions/{id}/settle", apikey.ScopePaymentsCapture, a.changing(a.settleTransaction)},
		{http.MethodPost, "/v1/test_helpers/transactions/{id}/expire", apikey.ScopePaymentsAuthorize, a.changing(a.expireTransaction)},
		{http.MethodPost, "/v1/test_helpers/settlement_runs", apikey.ScopePaymentsCapture, a.changing(a.runSettlement)},
		{http.MethodGet, "/v1/test_helpers/clock", apikey.ScopeTransactionsRead, a.readTestClock},
		{http.MethodPost, "/v1/test_helpers/clock/advance", apikey.ScopePaymentsCapture, a.changing(a.advanceTestClock)},
	}
}

func (a *API) settleTransaction(c *call) (engine.Result, error) {
	if err := c.testMode(); err != nil {
		return engine.Result{}, err
	}
	n, err := a.bareStep(c)
	if err != nil {
		return engine.Result{}, err
	}
	return a.Engine.Settle(c.Context(), c.request, n)
}

func (a *API) expireTransaction(c *call) (engine.Result, error) {
	if err := c.testMode(); err != nil {
		return engine.Result{}, err
	}
	n, err := a.bareStep(c)
	if err != nil {
		return engine.Result{}, err
	}
	return a.Engine.Expire(c.Context(), c.request, n)
}
