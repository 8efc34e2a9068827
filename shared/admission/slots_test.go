package admission_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/causeway-pay/causeway/shared/admission"
)

// fill makes complete requests hold slots, until most hold one or a request is refused. It returns
// their number and the status of the refusal. They end with the test, or by stop.
func (u *unfinished) fill(most int, address string, fields ...string) (held, status int, stop func()) {
	u.t.Helper()
	fields = append(fields, "Hang", "1")
	return u.begin(most, func(ctx context.Context) *http.Request { return u.request(ctx, address, 1, fields...) })
}

// fillFromSites is fill from each of 100 sites. It returns how many slots are held in all.
func (u *unfinished) fillFromSites(fields ...string) (held int) {
	u.t.Helper()
	for i := range 100 {
		n, _, _ := u.fill(all, siteAddress(i), fields...)
		held += n
	}
	return held
}

// all is more slots than there are.
const all = 10000

// wantFill checks how many slots a client can hold, and that a further request is 429.
func (u *unfinished) wantFill(want int, address string, fields ...string) (stop func()) {
	u.t.Helper()
	held, status, stop := u.fill(all, address, fields...)
	if held != want || status != http.StatusTooManyRequests {
		u.t.Errorf("%s %v: got %d slots and %d, want %d and 429", address, fields, held, status, want)
	}
	return stop
}

// secretKey returns the header fields of a secret key of a merchant, in live mode.
func secretKey(merchant string) []string {
	return []string{"Key", "key_of_" + merchant, "Merchant", merchant, "Live", "1"}
}

// publicKey returns the header fields of a publishable key of a merchant, in live mode.
func publicKey(n int, merchant string) []string {
	return []string{"Key", "key_" + strconv.Itoa(n), "Merchant", merchant, "Public", "1", "Live", "1"}
}

// TestShareOfSlots: a merchant holds at most half as many slots as are free, by all its secret
// keys. Other merchants get slots meanwhile.
func TestShareOfSlots(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Slots: 90})
	stop := u.wantFill(30, "127.0.0.2", secretKey("mer_1")...)
	u.want(429, "127.0.0.3", 1, "Key", "key_other", "Merchant", "mer_1", "Live", "1")
	u.want(200, "127.0.0.2", 1, secretKey("mer_2")...)
	u.wantFill(20, "127.0.0.2", secretKey("mer_2")...)
	u.want(429, "127.0.0.2", 1, secretKey("mer_1")...)
	stop()
	u.wantFill(24, "127.0.0.2", secretKey("mer_1")...) // 70 are free
}

// TestSlotsOfManyMerchants: a dozen merchants hold as many slots as they can, and slots remain for
// another merchant.
func TestSlotsOfManyMerchants(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Slots: 1024})
	for i := range 12 {
		_, _, _ = u.fill(all, "127.0.0.2", secretKey(strconv.Itoa(i))...)
	}
	u.want(200, "127.0.0.2", 1, secretKey("mer_1")...)
}

// TestSlotsOfLiveMode: test mode leaves a quarter of the slots to live mode, however many merchants
// send requests.
func TestSlotsOfLiveMode(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Slots: 8})
	for i := range 6 {
		u.fill(1, "127.0.0.2", "Key", strconv.Itoa(i), "Merchant", strconv.Itoa(i))
	}
	u.want(503, "127.0.0.2", 1, "Key", "key_1", "Merchant", "mer_1")
	u.want(503, "127.0.0.2", 1, "Key", "key_1", "Merchant", "mer_1", "Public", "1")
	for i := range 2 {
		u.fill(1, "127.0.0.2", secretKey("live_"+strconv.Itoa(i))...)
	}
	u.want(503, "127.0.0.2", 1, secretKey("mer_1")...)
}

// TestBytesOfLiveMode is TestSlotsOfLiveMode for the bytes of unfinished bodies.
func TestBytesOfLiveMode(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Bytes: (13*unit - 1) * 4 / 3})
	for i := range 12 {
		u.hold(1, "127.0.0.2", "Key", strconv.Itoa(i), "Merchant", strconv.Itoa(i))
	}
	u.want(503, "127.0.0.2", 1, "Key", "key_1", "Merchant", "mer_1")
	u.want(200, "127.0.0.2", 1, secretKey("mer_1")...)
}

// TestShareOfSlotsOfAPublicKey: requests with the public keys of a merchant hold at most half of
// its share. They also count towards their address. They do not reduce the share of the merchant's
// secret keys.
func TestShareOfSlotsOfAPublicKey(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Slots: 90})
	if held := u.fillFromSites(publicKey(1, "mer_1")...); held != 18 { // a quarter of 72
		t.Errorf("got %d slots of payers, want 18", held)
	}
	u.want(429, "127.0.0.3", 1, publicKey(2, "mer_1")...)
	u.want(200, "127.0.0.2", 1, publicKey(3, "mer_2")...)
	u.want(200, "127.0.0.2", 1)                        // no other client on the address is refused
	u.wantFill(15, "127.0.0.2", secretKey("mer_1")...) // a quarter of the rest
	u.want(429, "127.0.0.3", 1, publicKey(2, "mer_1")...)
}

// TestPayersLeaveSlotsToSecretKeys: payers of a merchant hold their share. Then other merchants
// take slots until the share is smaller than the slots that the payers hold. The merchant's server
// still gets slots.
func TestPayersLeaveSlotsToSecretKeys(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(n string) []string{
		"payers of others":  func(n string) []string { return publicKey(2, "other_"+n) },
		"servers of others": func(n string) []string { return secretKey("other_" + n) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := admit(t, admission.Config{Slots: 1024})
			u.fillFromSites(publicKey(1, "mer_1")...)
			for i := range 4 {
				u.fillFromSites(other(strconv.Itoa(i))...)
			}
			u.want(200, "127.0.0.3", 1, secretKey("mer_1")...)
		})
	}
}

// TestShareOfSlotsOfASite: one site holds at most a fifth of the slots of a merchant's payers, from
// all its addresses. With the public keys of many merchants it holds at most half as many slots as
// are free.
func TestShareOfSlotsOfASite(t *testing.T) {
	t.Parallel()
	for name, addresses := range map[string][2]string{
		"IPv4": {"127.0.0.2", "127.0.0.3"}, "IPv6": {"2001:db8:1:1::1", "2001:db8:1:2::1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := admit(t, admission.Config{Slots: 1024})
			u.fill(40, addresses[0], publicKey(1, "mer_1")...)
			u.wantFill(9, addresses[1], publicKey(2, "mer_1")...)
			u.want(429, addresses[0], 1, publicKey(1, "mer_1")...)
			u.want(200, "127.0.1.2", 1, publicKey(1, "mer_1")...)
			held := 49
			for n := range 44 {
				more, _, _ := u.fill(all, addresses[n%2], publicKey(n, "other_"+strconv.Itoa(n))...)
				held += more
			}
			if held != 342 {
				t.Errorf("got %d slots with the keys of many merchants, want 342", held)
			}
			u.want(429, addresses[0], 1, publicKey(1, "mer_3")...)
			u.want(200, "127.0.1.2", 1, publicKey(1, "mer_1")...)
		})
	}
}

// TestSlotsOfAClientWithoutASecretKey: a client with all addresses of an IPv6 site sends requests
// with the public keys of many merchants in both modes, and without keys. It holds at most five of
// nine slots. Others get their share of the rest.
func TestSlotsOfAClientWithoutASecretKey(t *testing.T) {
	t.Parallel()
	for _, order := range [][2]bool{{false, true}, {true, false}} { // with a key
		u := admit(t, admission.Config{Slots: 1024})
		held := 0
		for _, keys := range order {
			for n := range 44 {
				var fields []string
				if keys {
					fields = publicKey(n, "mer_"+strconv.Itoa(n))[:6+n%2*2] // without the last field: test mode
				}
				more, _, _ := u.fill(all, fmt.Sprintf("2001:db8:1:%x::1", n), fields...)
				held += more
			}
		}
		if held > 342+228 { // half of the free ones, twice
			t.Errorf("got %d slots, want at most 570", held)
		}
		u.want(200, "127.0.1.2", 1, publicKey(1, "mer_1")...)
		u.want(200, "127.0.1.2", 1, secretKey("mer_1")...)
		if got, _, _ := u.fill(all, "127.0.1.2", secretKey("mer_other")...); got < (1024-held)/3 {
			t.Errorf("%d are left, and another merchant got %d", 1024-held, got)
		}
	}
}

// TestSlotsOfOneMerchant: the keys of all kinds and modes of one merchant leave nearly half of the
// slots free. The share of live mode does not depend on the merchant's test mode.
func TestSlotsOfOneMerchant(t *testing.T) {
	t.Parallel()
	u := admit(t, admission.Config{Slots: 1024})
	held := map[string]int{}
	for _, live := range []string{"", "1"} { // this order holds most
		for _, public := range []string{"1", ""} {
			fields := []string{"Key", "key_" + live + public, "Merchant", "mer_1/" + live, "Live", live, "Public", public}
			held[live] += u.fillFromSites(fields...)
		}
	}
	if held[""] != 277 || held["1"] != 270 {
		t.Errorf("got %d in test mode and %d in live mode, want 277 and 270", held[""], held["1"])
	}
	u.want(200, "127.0.0.3", 1, secretKey("mer_2")...)
}

// TestShareOfSlotsOfAnAddress: unauthenticated requests count towards their address.
func TestShareOfSlotsOfAnAddress(t *testing.T) {
	t.Parallel()
	counted := map[string]int{}
	u := admit(t, admission.Config{Slots: 90, Refused: func(reason string) { counted[reason]++ }})
	u.fill(all, "127.0.0.2")
	u.want(503, "127.0.0.2", 1)
	u.wantFill(20, "127.0.0.3", secretKey("mer_1")...)
	if got, want := fmt.Sprint(counted), "map[too_many_requests:3]"; got != want {
		t.Errorf("counted: got %s, want %s", got, want)
	}
}
