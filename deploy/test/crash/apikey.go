package crash

import (
	"context"
	"fmt"
	"net/http"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// keyStory makes an API key, rolls it, and revokes one of the two.
func (t *teller) keyStory(ctx context.Context) error {
	c := t.post(KeyCreate, "/v1/api_keys", "")
	c.Body = fmt.Sprintf(`{"kind":"secret","scopes":["transactions:read"],"name":%q}`, c.Marker)
	if err := t.must(ctx, c); err != nil {
		return err
	}
	key := read[v1.APIKey](c.Answer)
	if t.chance(60) {
		roll := t.post(KeyRoll, "/v1/api_keys/"+key.ID+"/roll", `{"expires_in":%d}`, pick(t, 0, 3600))
		roll.On = key.ID
		if err := t.must(ctx, roll); err != nil {
			return err
		}
		if t.chance(50) {
			key = read[v1.APIKey](roll.Answer)
		}
	}
	if t.chance(60) {
		revoke := t.change(KeyRevoke, http.MethodDelete, "/v1/api_keys/"+key.ID, "")
		revoke.On = key.ID
		return t.do(ctx, revoke)
	}
	return nil
}
