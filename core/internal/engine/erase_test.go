package engine_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/shared/id"
)

// dying is api.Render, but ends the process at the last step of a deletion.
func dying(r engine.Result) engine.Response {
	if r.Kind == engine.Deleted {
		panic("the process ends here")
	}
	return api.Render(r)
}

// TestErasedWholeOrNotAtAll: a deletion that is interrupted has deleted nothing, and can be
// repeated.
func TestErasedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	made, err := s.Engine.CreateCustomer(t.Context(), s.Request(""), []byte(`{"email":"ann@example.com"}`))
	if err != nil {
		t.Fatal(err)
	}
	var shown struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(made.Body, &shown); err != nil {
		t.Fatal(err)
	}
	customer, err := id.Parse(id.Customer, shown.ID)
	if err != nil {
		t.Fatal(err)
	}
	known := func() int64 {
		t.Helper()
		return s.Number(t, `SELECT (SELECT COUNT(*) FROM customers WHERE deleted_at = 0 AND details LIKE '%ann@%')
			+ (SELECT COUNT(*) FROM events WHERE data LIKE '%ann@%')`)
	}
	cfg := s.Engine.Config
	cfg.Render = dying
	if _, err := engine.New(cfg).DeleteCustomer(t.Context(), s.Request(""), customer, nil); err == nil {
		t.Fatal("a deletion that ended half-way went through")
	}
	if got := known(); got != 2 {
		t.Errorf("after half a deletion: got %d places that know the customer, want 2", got)
	}
	if _, err := s.Engine.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil {
		t.Fatal(err)
	}
	if got := known(); got != 0 {
		t.Errorf("after a deletion: got %d places that know the customer", got)
	}
}
