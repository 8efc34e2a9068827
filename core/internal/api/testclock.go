package api

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxAdvance is how far one request may move a test clock.
const maxAdvance = 366 * 24 * time.Hour

func (a *API) runSettlement(c *call) (engine.Result, error) {
	if err := c.testMode(); err != nil {
		return engine.Result{}, err
	}
	if err := c.decode(&struct{}{}, true); err != nil {
		return engine.Result{}, err
	}
	return a.Engine.RunSettlement(c.Context(), c.request)
}

func (a *API) readTestClock(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	if k.Tenant.Live {
		return &fault{code: codeTestModeOnly}
	}
	now, err := a.Engine.ReadTestClock(r.Context(), k.Tenant)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, encode(showTestClock(&now)))
	return nil
}

func showTestClock(t *engine.TestTime) *v1.TestClock {
	return &v1.TestClock{
		Object: v1.TestClockObjectTestClock, Now: v1.Time{Time: t.Now}, AheadSeconds: int64(t.Ahead / time.Second),
	}
}

func (a *API) advanceTestClock(c *call) (engine.Result, error) {
	if err := c.testMode(); err != nil {
		return engine.Result{}, err
	}
	var in v1.TestClockAdvance
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	switch {
	case in.Seconds == 0 && !given(c.body, "seconds"):
		return engine.Result{}, &fault{code: codeMissingField, param: "seconds"}
	case in.Seconds < 1 || in.Seconds > int64(maxAdvance/time.Second):
		return engine.Result{}, &fault{code: codeInvalidValue, param: "seconds", message: "A test clock can only move forward, by 1 to 31622400 seconds at a time."}
	}
	return a.Engine.AdvanceTestClock(c.Context(), c.request, time.Duration(in.Seconds)*time.Second)
}
