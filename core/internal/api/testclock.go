package api

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/store"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxAdvance is how far one request may move a test clock.
const maxAdvance = 366 * 24 * time.Hour

// testPresenter shows what only the test helpers answer.
type testPresenter struct{}

var _ engine.TestPresenter = testPresenter{}

// Run implements engine.TestPresenter.
func (testPresenter) Run(settled int, more bool) engine.Answer {
	return engine.Answer{Status: http.StatusOK, Body: encode(&v1.SettlementRun{
		Object: v1.SettlementRunObjectSettlementRun, TransactionsSettled: settled, HasMore: more,
	})}
}

// Clock implements engine.TestPresenter.
func (testPresenter) Clock(t engine.TestTime) engine.Answer {
	return engine.Answer{Status: http.StatusOK, Body: encode(&v1.TestClock{
		Object: v1.TestClockObjectTestClock, Now: v1.Time{Time: t.Now}, AheadSeconds: int64(t.Ahead / time.Second),
	})}
}

func (a *API) runSettlement(c *call) (engine.Answer, error) {
	if err := c.testMode(); err != nil {
		return engine.Answer{}, err
	}
	if err := c.decode(&struct{}{}, true); err != nil {
		return engine.Answer{}, err
	}
	return a.Engine.RunSettlement(c.Context(), c.request, testPresenter{})
}

func (a *API) readTestClock(w http.ResponseWriter, r *http.Request, k *store.Key) error {
	if k.Tenant.Live {
		return &fault{code: codeTestModeOnly}
	}
	out, err := a.Engine.ReadTestClock(r.Context(), k.Tenant, testPresenter{})
	return a.answer(w, r, out, err)
}

func (a *API) advanceTestClock(c *call) (engine.Answer, error) {
	if err := c.testMode(); err != nil {
		return engine.Answer{}, err
	}
	var in v1.TestClockAdvance
	if err := c.decode(&in, false); err != nil {
		return engine.Answer{}, err
	}
	switch {
	case in.Seconds == 0 && !given(c.body, "seconds"):
		return engine.Answer{}, &fault{code: codeMissingField, param: "seconds"}
	case in.Seconds < 1 || in.Seconds > int64(maxAdvance/time.Second):
		return engine.Answer{}, &fault{code: codeInvalidValue, param: "seconds", message: "A test clock only moves forward, by 1 to 31622400 seconds at a time."}
	}
	return a.Engine.AdvanceTestClock(c.Context(), c.request, time.Duration(in.Seconds)*time.Second, testPresenter{})
}
