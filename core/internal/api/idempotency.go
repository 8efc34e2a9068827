package api

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/idempotency"
	"github.com/causeway-pay/causeway/core/internal/store"
	keyheader "github.com/causeway-pay/causeway/shared/idempotency"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// idempotencyKeyPath tells what became of an Idempotency-Key.
const idempotencyKeyPath = "/v1/idempotency_keys/{key}"

func (a *API) idempotencyRoutes() []route {
	return []route{
		{http.MethodGet, idempotencyKeyPath, apikey.ScopeTransactionsRead, a.getIdempotencyKey},
	}
}

func (a *API) getIdempotencyKey(w http.ResponseWriter, r *http.Request, k *store.Key) error {
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
		out.Resource = text(resourceOf(found.Answer))
	}
	a.write(w, r, http.StatusOK, encode(&out))
	return nil
}

// resourceOf is the id of the object that a stored answer shows, "" when it shows none. It is read out here, when somebody asks, so that
// storing an answer costs no more for it.
func resourceOf(answer []byte) string {
	var shown struct {
		ID    string `json:"id"`
		Error struct {
			Transaction struct {
				ID string `json:"id"`
			} `json:"transaction"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &shown) != nil {
		return ""
	}
	if shown.ID != "" {
		return shown.ID
	}
	return shown.Error.Transaction.ID
}
