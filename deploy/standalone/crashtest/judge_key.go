package crashtest

import (
	"net/http"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// keysAreRight wants each API key to be there once, to work as long as it was not rolled or revoked, and never again.
func (j *judge) keysAreRight() error {
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
			id := read[v1.APIKey](c.Answer).ID
			least = 1 + rolled[id] // the new one has the name of the old
			most = least + unsure[id]
		}
		if n < least || n > most {
			j.failf("%s %s: %d keys of that name, want %d to %d", c.Kind, c.Marker, n, least, most)
		}
	}
	return j.doorsAreRight()
}

// doorsAreRight tries each API key.
func (j *judge) doorsAreRight() error {
	secrets := make([]string, 0, len(j.h.live))
	for s := range j.h.live {
		secrets = append(secrets, s)
	}
	err := each(secrets, func(s string) error {
		a, err := j.h.api.get(j.ctx, "/v1/api_keys/current", s)
		if err != nil {
			return err
		}
		want := http.StatusUnauthorized
		if j.h.live[s] {
			want = http.StatusOK
		}
		if a.Status != want {
			j.h.mu.Lock()
			j.failf("an API key is answered with %d, want %d: %s", a.Status, want, a.Body)
			j.h.mu.Unlock()
		}
		return nil
	})
	return err
}
