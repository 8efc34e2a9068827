package keyring

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// EventRotated is the type of the event about a rotation.
const EventRotated = "mle.key.rotated"

// eventKey is the object of a rotation event: the new current key, and the key that it replaced.
type eventKey struct {
	Object      string         `json:"object"`
	Kid         string         `json:"kid"`
	Alg         string         `json:"alg"`
	Status      State          `json:"status"`
	NotBefore   v1.Time        `json:"not_before"`
	RotateAfter v1.Time        `json:"rotate_after"`
	ExpiresAt   v1.Time        `json:"expires_at"`
	JWK         jsontext.Value `json:"jwk"`
	Previous    eventPrevious  `json:"previous"`
}

type eventPrevious struct {
	Kid       string  `json:"kid"`
	ExpiresAt v1.Time `json:"expires_at"`
}

// announce writes the event of a rotation to the outbox, in the transaction of the rotation. A key
// becomes current only once, so its id identifies the event.
func (r *Keyring) announce(tx *keystore.Tx, cur, previous *keystore.Key) error {
	shown := r.shown(cur, tx.Now)
	body, err := json.Marshal(eventKey{
		Object: "mle_key", Kid: cur.Kid, Alg: cur.Alg, Status: shown.State, NotBefore: v1.Time{Time: shown.NotBefore},
		RotateAfter: v1.Time{Time: shown.RotateAfter}, ExpiresAt: v1.Time{Time: shown.ExpiresAt}, JWK: cur.JWK,
		Previous: eventPrevious{previous.Kid, v1.Time{Time: previous.RetireAt}},
	})
	if err != nil {
		return fmt.Errorf("keyring: event: %w", err)
	}
	return tx.Announce(
		keystore.Announcement{ID: EventRotated + ":" + cur.Kid, Tenant: cur.Tenant, Type: EventRotated, Body: body},
	)
}
