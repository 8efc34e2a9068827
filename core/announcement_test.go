package core_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/operator"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const rotatedKey = `{"mode":"test","type":"mle.key.rotated","name":"kid-1","object":{"object":"mle_key","kid":"kid-1"}}`

// TestAnnouncement: an event from outside the service reaches its merchant in its mode, in the list
// and by webhook, once.
func TestAnnouncement(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	hook := b.mustEndpoint(t)
	path := merchants + "/" + b.merchant + "/events"
	first := p.post(t, path, rotatedKey, keyed("k"))
	told := MustDecode[v1.Event](t, first, 201)
	if told.Type != v1.EventTypeMleKeyRotated || told.Mode != v1.ModeTest || told.Sequence != 1 || string(told.Data.Object) != `{"object":"mle_key","kid":"kid-1"}` {
		t.Errorf("got %s", first.body)
	}
	wantReplay(t, p.post(t, path, rotatedKey, keyed("k")), first)
	b.clock.Advance(25 * time.Hour) // the idempotency key is forgotten, the announcement is not
	for i, body := range []string{rotatedKey, strings.Replace(rotatedKey, `"mle_key"`, `"other"`, 1)} {
		if again := MustDecode[v1.Event](t, p.post(t, path, body, keyed([]string{"k", "k2"}[i])), 200); again.ID != told.ID || string(again.Data.Object) != string(told.Data.Object) {
			t.Errorf("again: got %+v, want %s", again, told.ID)
		}
	}
	second := MustDecode[v1.Event](t, p.post(t, path, strings.ReplaceAll(rotatedKey, "kid-1", "kid-2")), 201)
	if second.Sequence != 2 || second.ID == told.ID {
		t.Errorf("got %+v", second)
	}
	listed := b.listEvents(t, "type=mle.key.rotated")
	if len(listed) != 2 || listed[0].ID != second.ID || listed[1].ID != told.ID {
		t.Errorf("got %+v", listed)
	}
	if got := b.deliveries(t, hook); len(got) != 2 {
		t.Errorf("deliveries: got %d, want 2", len(got))
	}
	live := MustDecode[v1.Event](t, p.post(t, path, strings.Replace(rotatedKey, "test", "live", 1)), 201)
	if live.Mode != v1.ModeLive || len(b.listEvents(t, "type=mle.key.rotated")) != 2 {
		t.Errorf("the other mode: got %+v", live)
	}
}

// TestAnnouncementTogether: of many at once one makes the event.
func TestAnnouncementTogether(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if a, err := p.try(t, "POST", merchants+"/"+b.merchant+"/events", rotatedKey); err != nil || a.status != 200 && a.status != 201 {
				t.Errorf("got %d %s, %v", a.status, a.body, err)
			}
		})
	}
	wg.Wait()
	if n := b.countEvents(t, "mle.key.rotated"); n != 1 {
		t.Errorf("events: got %d, want 1", n)
	}
}

func TestAnnouncementRefused(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	path := merchants + "/" + b.merchant + "/events"
	for body, want := range map[string][2]string{
		strings.Replace(rotatedKey, `"test"`, `"both"`, 1):                                        {"invalid_value", "mode"},
		strings.Replace(rotatedKey, `"mode":"test",`, "", 1):                                      {"missing_field", "mode"},
		strings.Replace(rotatedKey, "mle.key.rotated", "transaction.captured", 1):                 {"invalid_value", "type"},
		strings.Replace(rotatedKey, `"type":"mle.key.rotated",`, "", 1):                           {"missing_field", "type"},
		strings.Replace(rotatedKey, `"name":"kid-1",`, "", 1):                                     {"missing_field", "name"},
		strings.Replace(rotatedKey, `"name":"kid-1"`, `"name":"`+strings.Repeat("k", 201)+`"`, 1): {"invalid_value", "name"},
		`{"mode":"test","type":"mle.key.rotated","name":"k"}`:                                     {"missing_field", "object"},
		`{"mode":"test","type":"mle.key.rotated","name":"k","object":[]}`:                         {"invalid_type", "object"},
	} {
		wantRefusal(t, p.post(t, path, body), refusal{400, v1.ErrorTypeInvalidRequestError, want[0], want[1]})
	}
	wantRefusal(t, p.post(t, operator.Root+"/merchants/mer_01jd8m3k2q4r5/events", rotatedKey), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	if n := b.countEvents(t, "mle.key.rotated"); n != 0 {
		t.Errorf("events: got %d, want none", n)
	}
}
