package api_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	broadcasts = operator.Root + "/events"
	rotated    = `{"type":"certificate.rotated","name":"rot-1","object":{"object":"certificate","rotation":"rot-1"}}`
)

// finished waits until a broadcast is finished, and returns it.
func (p port) finished(t *testing.T, body string) operator.Broadcast {
	t.Helper()
	var got operator.Broadcast
	programtest.WaitFor(t, "the broadcast is finished", func() bool {
		got = MustDecode[operator.Broadcast](t, p.post(t, broadcasts, body), 200)
		return got.Status == operator.Told
	})
	return got
}

// TestBroadcast: every enabled merchant gets one event in each mode, in the list and by webhook.
// Later merchants get none.
func TestBroadcast(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	hook := b.mustEndpoint(t)
	out := coretest.MustCreateMerchant(t, b.core.Admin())
	MustDecode[operator.Merchant](t, p.post(t, merchants+"/"+out+"/disable", ""), 200)
	coretest.MustCreateMerchant(t, b.core.Admin())
	first := MustDecode[operator.Broadcast](t, p.post(t, broadcasts, rotated, keyed("k")), 201)
	if first.Object != "broadcast" || first.Name != "rot-1" || first.Type != v1.EventTypeCertificateRotated || !first.CreatedAt.Equal(birth) {
		t.Errorf("got %+v", first)
	}
	done := p.finished(t, rotated)
	if done.Merchants != 2 || done.FinishedAt == nil {
		t.Errorf("got %+v, want 2 merchants", done)
	}
	coretest.MustCreateMerchant(t, b.core.Admin()) // late
	MustDecode[operator.Merchant](t, p.post(t, merchants+"/"+out+"/enable", ""), 200)
	b.clock.Advance(25 * time.Hour)
	again := p.finished(t, strings.Replace(rotated, `"object":"certificate"`, `"object":"other"`, 1))
	if again.Merchants != 2 || !again.FinishedAt.Equal(done.FinishedAt.Time) {
		t.Errorf("got %+v, want %+v", again, done)
	}
	if n := b.countEvents(t, "certificate.rotated"); n != 4 {
		t.Errorf("events: got %d, want one in each mode of two merchants", n)
	}
	live := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"}))
	for mode, key := range map[v1.Mode][]option{v1.ModeTest: nil, v1.ModeLive: {live}} {
		list := MustDecode[v1.EventList](t, b.get(t, "/v1/events?type=certificate.rotated", key...), 200).Data
		if len(list) != 1 || list[0].Mode != mode || list[0].Sequence != 1 || string(list[0].Data.Object) != `{"object":"certificate","rotation":"rot-1"}` {
			t.Errorf("%s: got %+v", mode, list)
		}
	}
	if got := b.deliveries(t, hook); len(got) != 1 {
		t.Errorf("deliveries: got %d, want 1", len(got))
	}
	p.post(t, broadcasts, strings.ReplaceAll(rotated, "rot-1", "rot-2"))
	if p.finished(t, strings.ReplaceAll(rotated, "rot-1", "rot-2")).Merchants != 4 {
		t.Error("the second broadcast does not reach all four")
	}
	if list := b.listEvents(t, "type=certificate.rotated"); len(list) != 2 || list[0].Sequence != 2 {
		t.Errorf("got %+v", list)
	}
}

// TestBroadcastMeetsAnAnnouncement: a merchant that already got the event as an announcement does
// not get it again.
func TestBroadcastMeetsAnAnnouncement(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	MustDecode[v1.Event](t, p.post(t, merchants+"/"+b.merchant+"/events", strings.Replace(rotated, "{", `{"mode":"test",`, 1)), 201)
	p.post(t, broadcasts, rotated)
	p.finished(t, rotated)
	if n := b.countEvents(t, "certificate.rotated"); n != 2 {
		t.Errorf("events: got %d, want 2", n)
	}
}

// TestBroadcastCutShort: a service that stops in the middle continues there, and every merchant
// gets one event.
func TestBroadcastCutShort(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	const merchants = 250
	makeMerchants(t, b, merchants-1)
	for cuts, round := 0, 1; cuts < 3; round++ { // the broadcast may end before the test stops the service
		body := strings.ReplaceAll(rotated, "rot-1", fmt.Sprint("rot-", round))
		MustDecode[operator.Broadcast](t, p.post(t, broadcasts, body), 201)
		cuts += b.cutShort(t, 3-cuts)
		p = openPort(t, b)
		if got := p.finished(t, body); got.Merchants != merchants {
			t.Errorf("broadcast: got %+v, want %d", got, merchants)
		}
		if n := b.number(t, "SELECT COUNT(*) FROM events WHERE type = 'certificate.rotated'"); n != int64(2*merchants*round) {
			t.Errorf("events: got %d, want %d in %d rounds", n, 2*merchants*round, round)
		}
		if n := b.number(t, "SELECT COUNT(DISTINCT merchant_id) FROM events WHERE type = 'certificate.rotated'"); n != merchants {
			t.Errorf("merchants: got %d, want %d", n, merchants)
		}
	}
}

// cutShort restarts the service each time a broadcast has made progress, at most the given number
// of times. It returns the number of starts.
func (b *bundle) cutShort(t *testing.T, most int) (cuts int) {
	t.Helper()
	const unfinished = "SELECT COUNT(*) FROM broadcasts WHERE finished_at = 0"
	for before := int64(0); cuts < most && b.number(t, unfinished) == 1; {
		if n := b.number(t, "SELECT COALESCE(MAX(place), 0) FROM broadcasts WHERE finished_at = 0"); n == before {
			runtime.Gosched()
			continue
		}
		b.restart(t)
		cuts++
		before = b.number(t, "SELECT COALESCE(MAX(place), 0) FROM broadcasts WHERE finished_at = 0")
	}
	return cuts
}

// makeMerchants makes n merchants, many at the same time, so that they share commits.
func makeMerchants(t *testing.T, b *bundle, n int) {
	t.Helper()
	turns := make(chan struct{}, n)
	for range n {
		turns <- struct{}{}
	}
	close(turns)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range turns {
				if _, err := b.core.Admin().CreateMerchant(t.Context(), "Shop"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestBroadcastRefused(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	for body, want := range map[string][2]string{
		strings.Replace(rotated, "{", `{"mode":"test",`, 1):                                    {"unknown_field", "mode"},
		strings.Replace(rotated, "certificate.rotated", "mle.key.rotated", 1):                  {"invalid_value", "type"},
		strings.Replace(rotated, "certificate.rotated", "transaction.captured", 1):             {"invalid_value", "type"},
		strings.Replace(rotated, `"type":"certificate.rotated",`, "", 1):                       {"missing_field", "type"},
		strings.Replace(rotated, `"name":"rot-1",`, "", 1):                                     {"missing_field", "name"},
		strings.Replace(rotated, `"name":"rot-1"`, `"name":"`+strings.Repeat("k", 201)+`"`, 1): {"invalid_value", "name"},
		`{"type":"certificate.rotated","name":"k"}`:                                            {"missing_field", "object"},
		`{"type":"certificate.rotated","name":"k","object":"certificate"}`:                     {"invalid_type", "object"},
	} {
		wantRefusal(t, p.post(t, broadcasts, body), refusal{400, v1.ErrorTypeInvalidRequestError, want[0], want[1]})
	}
	wantRefusal(t, p.post(t, broadcasts, rotated, as("b3RoZXI")), refusal{401, v1.ErrorTypeAuthenticationError, "invalid_operator_token", ""})
	if n := b.number(t, "SELECT COUNT(*) FROM broadcasts"); n != 0 {
		t.Errorf("broadcasts: got %d, want none", n)
	}
}

const rotatedKey = `{"mode":"test","type":"mle.key.rotated","name":"kid-1","object":{"object":"mle_key","kid":"kid-1"}}`

// TestAnnouncement: an event from outside the service reaches its merchant in its mode, in the list
// and by webhook, once.
func TestAnnouncement(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	hook := b.mustEndpoint(t)
	path := merchants + "/" + b.merchant + "/events"
	first := p.post(t, path, rotatedKey, keyed("k"))
	finished := MustDecode[v1.Event](t, first, 201)
	if finished.Type != v1.EventTypeMleKeyRotated || finished.Mode != v1.ModeTest || finished.Sequence != 1 || string(finished.Data.Object) != `{"object":"mle_key","kid":"kid-1"}` {
		t.Errorf("got %s", first.body)
	}
	wantReplay(t, p.post(t, path, rotatedKey, keyed("k")), first)
	b.clock.Advance(25 * time.Hour) // the idempotency key has expired, but the announcement is still stored
	for i, body := range []string{rotatedKey, strings.Replace(rotatedKey, `"mle_key"`, `"other"`, 1)} {
		if again := MustDecode[v1.Event](t, p.post(t, path, body, keyed([]string{"k", "k2"}[i])), 200); again.ID != finished.ID || string(again.Data.Object) != string(finished.Data.Object) {
			t.Errorf("again: got %+v, want %s", again, finished.ID)
		}
	}
	second := MustDecode[v1.Event](t, p.post(t, path, strings.ReplaceAll(rotatedKey, "kid-1", "kid-2")), 201)
	if second.Sequence != 2 || second.ID == finished.ID {
		t.Errorf("got %+v", second)
	}
	listed := b.listEvents(t, "type=mle.key.rotated")
	if len(listed) != 2 || listed[0].ID != second.ID || listed[1].ID != finished.ID {
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

// TestAnnouncementTogether: of many concurrent equal announcements, one makes the event.
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
