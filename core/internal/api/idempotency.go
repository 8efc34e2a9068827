package api

import (
	"cmp"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/idempotency"
	"github.com/causeway-pay/causeway/core/internal/payment"
	keyheader "github.com/causeway-pay/causeway/shared/idempotency"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// idempotencyKeyPath shows the state of an Idempotency-Key.
const idempotencyKeyPath = "/v1/idempotency_keys/{key}"

func (a *API) idempotencyRoutes() []route {
	return []route{
		{http.MethodGet, idempotencyKeyPath, apikey.ScopeIdempotencyKeysRead, a.getIdempotencyKey},
		{http.MethodPost, "/v1/idempotency_keys", apikey.ScopeIdempotencyKeysReserve, a.changing(a.reserveKey)},
	}
}

func (a *API) getIdempotencyKey(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	key, err := pathSegment(r, "key")
	if err != nil {
		return err
	}
	key = keyheader.Normalize(key)
	if !isText(key) {
		return textFault("key")
	}
	found, err := a.Engine.IdempotencyKey(r.Context(), k.Tenant, idempotency.Name(a.IdempotencyKey, key, false))
	if err != nil {
		return notFoundAt(err, "key")
	}
	out := v1.IdempotencyKeyRecord{
		Object: v1.IdempotencyKeyRecordObjectIdempotencyKey, Key: key, Status: v1.IdempotencyKeyRecordStatusInProgress,
		CreatedAt: v1.Time{Time: found.CreatedAt}, ExpiresAt: v1.Time{Time: found.ExpiresAt},
	}
	if found.Status != 0 {
		out.Status, out.HTTPStatus = v1.IdempotencyKeyRecordStatusCompleted, &found.Status
		shown := shownIn(found.Body)
		out.Resource, out.ErrorCode, out.Purpose = v1.Optional(shown.resource), v1.Optional(shown.code), v1.Optional(shown.purpose)
	}
	a.write(w, r, http.StatusOK, encode(&out))
	return nil
}

// reserveKey stores the request's key with a response and no effect. Its purpose is part of the
// request's fingerprint, so the key cannot serve another purpose.
func (a *API) reserveKey(c *call) (engine.Result, error) {
	var in v1.IdempotencyKeyReserve
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	switch {
	case in.Purpose == "":
		return engine.Result{}, &fault{code: codeMissingField, param: "purpose"}
	case c.request.Key == "":
		return engine.Result{}, &fault{code: codeInvalidIdempotencyKey, message: "This request needs an Idempotency-Key of 1 to 255 printable ASCII characters."}
	}
	if f := lengthFault(field{"purpose", &in.Purpose, 255}); f != nil {
		return engine.Result{}, f
	}
	return a.Engine.ReserveKey(c.Context(), c.request, in.Purpose)
}

func showReservation(r *engine.Reservation) *v1.IdempotencyKeyReservation {
	return &v1.IdempotencyKeyReservation{
		Object: v1.IdempotencyKeyReservationObjectIdempotencyKeyReservation, Purpose: r.Purpose,
		CreatedAt: v1.Time{Time: r.CreatedAt}, ExpiresAt: v1.Time{Time: r.ExpiresAt},
	}
}

// resourceOf returns the id of the object that a stored response shows, "" if it shows none.
func resourceOf(response []byte) string { return shownIn(response).resource }

// shown are the fields that a stored response shows; a field is "" if the response does not have
// it.
type shown struct {
	resource string // the id of the object
	code     string // of the error
	purpose  string // of the reservation
}

// shownIn reads a stored response. It is parsed only when a client requests it, so that storing a
// response stays cheap.
func shownIn(response []byte) shown {
	var in struct {
		ID      string `json:"id"`
		Purpose string `json:"purpose"`
		Error   struct {
			Code        string `json:"code"`
			Transaction struct {
				ID string `json:"id"`
			} `json:"transaction"`
		} `json:"error"`
	}
	if json.Unmarshal(response, &in) != nil {
		return shown{}
	}
	return shown{cmp.Or(in.ID, in.Error.Transaction.ID), in.Error.Code, in.Purpose}
}
