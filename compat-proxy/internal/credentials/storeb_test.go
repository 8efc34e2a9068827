package credentials_test

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/clock"
)

const secretB = "c2l4dGVlbiBieXRlcyEhIQ=="

// issued returns a client's certificate and a key pair of the proxy, made once.
var issued = sync.OnceValues(func() (credentials.CertificateB, credentials.EncryptionB) {
	e, err := credentials.NewEncryptionB(time.Unix(1000, 0))
	if err != nil {
		panic(err)
	}
	c, err := credentials.NewCertificateB("shop", e.Certificate, time.Unix(1000, 0))
	if err != nil {
		panic(err)
	}
	return c, e
})

func mustOpenB(t *testing.T, text string) (*credentials.Store, string, *clock.Fake) {
	t.Helper()
	path, c := filepath.Join(t.TempDir(), "credentials.yaml"), clock.NewFake(time.Unix(1000, 0))
	mustWrite(t, path, text)
	s, err := credentials.Open(path, c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, path, c
}

func TestProviderB(t *testing.T) {
	t.Parallel()
	client, own := issued()
	s, _, _ := mustOpenB(t, `provider_b:
  - merchant_id: shop
    keys: [{id: one, shared_secret: "`+secretB[:8]+`\n `+strings.TrimRight(secretB[8:], "=")+`"}]
    certificates: [`+strconv.Quote(client.Certificate)+`]
    response_keys:
      - {certificate: `+strconv.Quote(client.Certificate)+`}
      - {kid: mine, certificate: `+strconv.Quote(client.Certificate)+`}
    api_key: sk_test_shop
    currency: eur
    unlinked_credits: true
    sandbox: true
    review: off
    signature_age: 2h
  - {merchant_id: member, api_key: sk_test_member, review: on}
  - {merchant_id: group, keys: [{id: two, shared_secret: `+secretB+`}], portfolio: [member, shop], any_date: true}
provider_b_encryption:
  - {key: `+strconv.Quote(own.Key.Reveal())+`, certificate: `+strconv.Quote(own.Certificate)+`, kid: requests}
`)
	one, known := s.ProviderBKey(t.Context(), "one")
	if want, _ := base64.StdEncoding.DecodeString(secretB); !known || one.Secret.Reveal() != string(want) ||
		one.Certificate != nil {
		t.Fatalf("the key: %v, %v, want a secret alone", one, known)
	}
	g, _ := one.Login.Grant("shop")
	if g.APIKey.Reveal() != "sk_test_shop" || g.Currency != "eur" || !g.UnlinkedRefunds || !g.Sandbox || !g.NoReview ||
		one.Login.AnyDate || one.Login.Age != 2*time.Hour {
		t.Errorf("grant = %+v, any date %v, want the settings of the entry", g, one.Login.AnyDate)
	}
	if _, ok := one.Login.Grant("member"); ok {
		t.Error("a merchant may act for another")
	}
	two, _ := s.ProviderBKey(t.Context(), "two")
	if one, two := one.Login.EvidenceKey(), two.Login.EvidenceKey(); one.Reveal() != "sk_test_shop" ||
		two.Reveal() != "sk_test_member" {
		t.Errorf("witnesses %q and %q, want the API keys of the first merchants by id", one.Reveal(), two.Reveal())
	}
	for merchant, want := range map[string]string{
		"member": "sk_test_member", "shop": "sk_test_shop", "group": "",
		"unknown": "",
	} {
		if got, _ := two.Login.Grant(merchant); got.APIKey.Reveal() != want {
			t.Errorf("the portfolio for %s: got %q, want %q", merchant, got.APIKey.Reveal(), want)
		}
	}
	block, _ := pem.Decode([]byte(client.Certificate))
	leaf, known := s.ProviderBCertificate(t.Context(), block.Bytes)
	if !known || leaf.Login != one.Login || !leaf.Secret.IsZero() {
		t.Errorf("the certificate: %v, %v, want that of the shop", leaf, known)
	}
	if byKID, known := s.ProviderBKey(t.Context(), leaf.Certificate.Subject.SerialNumber); !known ||
		byKID.Certificate != leaf.Certificate {
		t.Error("the certificate is not found by the serialNumber of its subject")
	}
	for kid, want := range map[string]bool{"mine": true, leaf.Certificate.Subject.SerialNumber: true, "other": false} {
		if _, got := one.Login.ResponseKey(kid); got != want {
			t.Errorf("response key %s: %v, want %v", kid, got, want)
		}
	}
	for kid, want := range map[string]bool{"requests": true, "other": false} {
		if _, got := s.ProviderBDecryptionKey(t.Context(), kid); got != want {
			t.Errorf("opener %s: %v, want %v", kid, got, want)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v", one, s, g); strings.Contains(text, "sixteen") ||
		strings.Contains(text, "sk_test_shop") {
		t.Errorf("%s contains a secret", text)
	}
}

func TestProviderBRevokedWithoutARestart(t *testing.T) {
	t.Parallel()
	entry := "  - {merchant_id: %s, api_key: sk_test_a, keys: [{id: %s, shared_secret: " + secretB + "}]}\n"
	s, path, c := mustOpenB(t, "provider_b:\n"+fmt.Sprintf(entry, "a", "one")+fmt.Sprintf(entry, "b", "two"))
	mustWrite(t, path, "provider_b:\n"+fmt.Sprintf(entry, "b", "two")+fmt.Sprintf(entry, "c", "three"))
	c.Advance(time.Second)
	for id, want := range map[string]bool{"one": false, "two": true, "three": true} {
		if _, got := s.ProviderBKey(t.Context(), id); got != want {
			t.Errorf("key %s: %v, want %v", id, got, want)
		}
	}
	mustWrite(t, path, "provider_b: [{merchant_id: b}]")
	c.Advance(time.Second)
	if _, known := s.ProviderBKey(t.Context(), "two"); !known {
		t.Error("a broken entry has replaced the last valid one")
	}
}

func TestOpenNamesTheKeyAtFaultB(t *testing.T) {
	t.Parallel()
	good := "keys: [{id: a, shared_secret: " + secretB + "}], api_key: sk_test_a"
	login := func(fields string) string { return "provider_b: [{merchant_id: a, " + fields + "}]" }
	withKey := func(fields string) string { return login("api_key: sk_test_a, keys: [{" + fields + "}]") }
	for name, tt := range map[string]struct{ yaml, want string }{
		"no merchant":          {"provider_b: [{" + good + "}]", "provider_b[0].merchant_id"},
		"merchant with spaces": {"provider_b: [{merchant_id: a b, " + good + "}]", "provider_b[0].merchant_id"},
		"merchant twice":       {login("api_key: sk_test_a}, {merchant_id: a, " + good), "provider_b[1].merchant_id"},
		"no login":             {"provider_b: [{merchant_id: a}]", "provider_b[0].api_key"},
		"no key id":            {withKey("shared_secret: " + secretB), "provider_b[0].keys[0].id"},
		"no secret":            {withKey("id: a"), "provider_b[0].keys[0].shared_secret"},
		"no base64":            {withKey("id: a, shared_secret: planted!"), "provider_b[0].keys[0].shared_secret"},
		"short secret":         {withKey("id: a, shared_secret: cGxhbnRlZA=="), "provider_b[0].keys[0].shared_secret"},
		"key twice":            {login(good + "}, {merchant_id: b, " + good), "provider_b[1].keys[0].id"},
		"no API key":           {login("keys: [{id: a, shared_secret: " + secretB + "}]"), "provider_b[0].api_key"},
		"publishable key":      {login("api_key: pk_test_planted"), "provider_b[0].api_key"},
		"currency":             {login(good + ", currency: EUR"), "provider_b[0].currency"},
		"review":               {login(good + ", review: maybe"), "provider_b[0].review"},
		"live sandbox":         {login("api_key: sk_live_planted, sandbox: true"), "provider_b[0].sandbox"},
		"age":                  {login(good + ", signature_age: 12h"), "provider_b[0].signature_age"},
		"negative age":         {login(good + ", signature_age: -1s"), "provider_b[0].signature_age"},
		"unknown key":          {login(good + ", colour: red"), "colour"},
		"unknown portfolio":    {login(good + ", portfolio: [b]"), "provider_b[0].portfolio[0]"},
		"nested portfolio": {
			login("portfolio: [b], keys: [{id: a, shared_secret: " + secretB + "}]}, " +
				"{merchant_id: b, portfolio: [a], keys: [{id: b, shared_secret: " + secretB + "}]"),
			"provider_b[0].portfolio[0]",
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); checkFault(t, tt.yaml, tt.want) })
	}
}

func TestOpenNamesTheCertificateAtFaultB(t *testing.T) {
	t.Parallel()
	client, own := issued()
	cert, key := strconv.Quote(client.Certificate), strconv.Quote(own.Key.Reveal())
	good := "keys: [{id: a, shared_secret: " + secretB + "}], api_key: sk_test_a"
	login := func(fields string) string { return "provider_b: [{merchant_id: a, " + good + ", " + fields + "}]" }
	decryption := func(fields string) string { return "provider_b_encryption: [{" + fields + "}]" }
	for name, tt := range map[string]struct{ yaml, want string }{
		"no certificate":      {login("certificates: [planted]"), "provider_b[0].certificates[0]"},
		"certificate missing": {login("certificates: [{file: nowhere.pem}]"), "nowhere.pem"},
		"certificate twice": {
			login("certificates: [" + cert + "," + cert + "]"), "provider_b[0].certificates[1]",
		},
		"response key": {login("response_keys: [{kid: a}]"), "provider_b[0].response_keys[0].certificate"},
		"response key twice": {
			login("response_keys: [{certificate: " + cert + "}, {certificate: " + cert + "}]"),
			"provider_b[0].response_keys[1].kid",
		},
		"encryption key":      {decryption("key: planted, certificate: " + cert), "provider_b_encryption[0].key"},
		"no encryption key":   {decryption("certificate: " + cert), "provider_b_encryption[0].key"},
		"no encryption cert":  {decryption("key: " + key), "provider_b_encryption[0].certificate"},
		"encryption mismatch": {decryption("key: " + key + ", certificate: " + cert), "provider_b_encryption[0].certificate"},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); checkFault(t, tt.yaml, tt.want) })
	}
}

// checkFault opens a credentials file, and wants an error that names the key at fault and contains
// no secret.
func checkFault(t *testing.T, yaml, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials.yaml")
	mustWrite(t, path, yaml)
	_, err := credentials.Open(path, clock.System(), slog.New(slog.DiscardHandler), nil)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want an error that names %s", err, want)
	}
	if strings.Contains(err.Error(), "planted") || strings.Contains(err.Error(), "PRIVATE") {
		t.Errorf("%v contains a secret", err)
	}
}
