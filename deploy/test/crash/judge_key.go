package crash

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// keysAreRight requires each API key to be there once, to work until it is rolled or revoked, and
// never afterwards.
func (j *judge) keysAreRight() {
	byName := map[string]int{}
	for _, k := range j.keys {
		if k.Name != nil {
			byName[*k.Name]++
		}
	}
	rolled, unsure := map[string]int{}, map[string]int{}
	for _, c := range j.calls {
		if c.Kind != KeyRoll {
			continue
		}
		if c.ok() {
			rolled[c.On]++
		} else if c.maybe() {
			unsure[c.On]++
		}
	}
	for _, c := range j.calls {
		if c.Kind != KeyCreate {
			continue
		}
		n, least, most := byName[c.Marker], 0, 1
		if c.ok() {
			id := read[v1.APIKey](c.Response).ID
			least = 1 + rolled[id] // the new one has the name of the old
			most = least + unsure[id]
		}
		if n < least || n > most {
			j.failf("%s %s: %d keys of that name, want %d to %d", c.Kind, c.Marker, n, least, most)
		}
	}
	j.secretsAreRight()
}

// secretsAreRight tries each API key.
func (j *judge) secretsAreRight() {
	secrets := make([]string, 0, len(j.h.live))
	for s := range j.h.live {
		secrets = append(secrets, s)
	}
	ensure(each(secrets, func(s string) {
		want := http.StatusUnauthorized
		if j.h.live[s] {
			want = http.StatusOK
		}
		if a := j.trySecret(s, want); a.Status != want {
			j.failf("the response to an API key is %d, want %d: %s", a.Status, want, a.Body)
		}
	}))
}

// trySecret tries an API key at each process. A process may notice a change later, on a busy
// machine much later.
func (j *judge) trySecret(key string, want int) (a *Response) {
	ctx, cancel := context.WithTimeout(j.ctx, programtest.Patience)
	defer cancel()
	for right := 0; right < j.h.api.many(); right++ {
		a = must(j.h.api.get(j.ctx, "/v1/api_keys/current", key))
		if a.Status == want {
			continue
		}
		if j.h.api.many() == 1 || ctx.Err() != nil {
			return a
		}
		right = -1
	}
	return a
}
