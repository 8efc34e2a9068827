package api

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/store"
)

func (a *API) testHelperRoutes() []route {
	return []route{
		{http.MethodPost, "/v1/test_helpers/transactions/{id}/settle", "payments:capture", a.settleTransaction},
		{http.MethodPost, "/v1/test_helpers/transactions/{id}/expire", "payments:authorize", a.expireTransaction},
		{http.MethodPost, "/v1/test_helpers/settlement_runs", "payments:capture", a.runSettlement},
		{http.MethodGet, "/v1/test_helpers/clock", "transactions:read", a.readTestClock},
		{http.MethodPost, "/v1/test_helpers/clock/advance", "payments:capture", a.advanceTestClock},
	}
}

func (a *API) settleTransaction(w http.ResponseWriter, r *http.Request, k *store.Key) error {
	if k.Tenant.Live {
		return &fault{code: codeTestModeOnly}
	}
	n, req, err := a.bareStep(w, r, k)
	if err != nil {
		return err
	}
	out, err := a.Engine.Settle(r.Context(), req, n)
	return a.answer(w, r, out, err)
}

func (a *API) expireTransaction(w http.ResponseWriter, r *http.Request, k *store.Key) error {
	if k.Tenant.Live {
		return &fault{code: codeTestModeOnly}
	}
	n, req, err := a.bareStep(w, r, k)
	if err != nil {
		return err
	}
	out, err := a.Engine.Expire(r.Context(), req, n)
	return a.answer(w, r, out, err)
}
