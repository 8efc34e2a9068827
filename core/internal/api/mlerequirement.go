package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// requirementsPath lists the announced requirements of encryption. It needs no key. mle-filter
// reads it and enforces the requirements.
const requirementsPath = "/v1/mle/requirements"

// requirementsAge is how long the list is cached. A client without a key reads the store at most
// that often.
const requirementsAge = time.Second

// requirements is the cached list.
type requirements struct {
	mu   sync.Mutex
	body []byte    // guarded by mu; nil before the first read
	read time.Time // guarded by mu
}

// listRequirements lists the requirements that are not withdrawn.
func (a *API) listRequirements(w http.ResponseWriter, r *http.Request) {
	httpx.EventFrom(r.Context()).SetRoute("GET " + requirementsPath)
	if _, err := query(r); err != nil {
		a.refuse(w, r, err)
		return
	}
	body, err := a.requirementsBody(r.Context())
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	a.write(w, r, http.StatusOK, body)
}

// requirementsBody returns the cached list, or reads it. One request reads at a time.
func (a *API) requirementsBody(ctx context.Context) ([]byte, error) {
	c := &a.requirements
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := a.Clock.Now().Sub(c.read); c.body != nil && age >= 0 && age < requirementsAge {
		return c.body, nil
	}
	found, err := a.Store.MLERequirements(ctx)
	if err != nil {
		return nil, err
	}
	out := v1.MLERequirementList{Object: v1.MLERequirementListObjectList, Data: []v1.MLERequirement{}}
	for _, one := range found {
		if one.WithdrawnAt.IsZero() {
			out.Data = append(out.Data, ShowMLERequirement(one))
		}
	}
	c.body, c.read = encode(&out), a.Clock.Now()
	return c.body, nil
}

// ShowMLERequirement shows a requirement as events and audit records have it.
func ShowMLERequirement(r *payment.MLERequirement) v1.MLERequirement {
	return v1.MLERequirement{
		Object: v1.MLERequirementObjectMleRequirement, ID: id.Format(id.MLERequirement, r.ID), Endpoints: r.Endpoints,
		AnnouncedAt: v1.Time{Time: r.AnnouncedAt}, EffectiveAt: v1.Time{Time: r.EffectiveAt},
		WithdrawnAt: optionalTime(r.WithdrawnAt),
	}
}

// EncryptableEndpoints returns the endpoints of v1 that have a body and a merchant's data, such as
// "POST /v1/tokens".
func EncryptableEndpoints() (out []string) {
	for _, r := range (&API{}).routes() {
		if r.method != http.MethodGet && r.method != http.MethodDelete {
			out = append(out, r.method+" "+r.path)
		}
	}
	return out
}
