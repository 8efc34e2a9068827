package certfile_test

import (
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// trust is a root that is known, one that is not, and an intermediate below each.
type trust struct {
	root, below, strange, strangeBelow *certtest.Authority
}

func newTrust(t *testing.T) trust {
	t.Helper()
	root, strange := certtest.Root(t), certtest.Root(t)
	return trust{root: root, below: root.Intermediate(t), strange: strange, strangeBelow: strange.Intermediate(t)}
}

func (w trust) rules(hosts ...string) certfile.Rules {
	return certfile.Rules{Hosts: hosts, Roots: w.root.Pool()}
}

func TestCheckTakesGoodPairs(t *testing.T) {
	t.Parallel()
	w := newTrust(t)
	sub := w.below.Intermediate(t)
	withRoot := w.below.Issue(t)
	withRoot.Chain = append(withRoot.Chain, w.root.Certificate)
	unknown := w.strangeBelow.Issue(t)
	unknown.Chain = append(unknown.Chain, w.strange.Certificate)
	wildcard := w.below.Issue(t, certtest.Hosts("*.example.com", "::1"))
	open := w.rules()
	open.OpenRoot = true
	now := clock.System().Now()
	long := w.below.Issue(t, certtest.Lives(now.Add(-time.Hour), now.AddDate(3, 0, 0)))
	tests := []struct {
		name    string
		issued  *certtest.Issued
		rules   certfile.Rules
		warning certfile.Code // "" for none
	}{
		{"ECDSA", w.below.Issue(t), w.rules("localhost", "127.0.0.1", "LOCALHOST."), ""},
		{"P384", w.below.IssueFor(t, certtest.ECDSA(t, elliptic.P384())), w.rules("localhost"), ""},
		{"RSA", w.below.IssueFor(t, certtest.RSA(t, 2048)), w.rules("localhost"), ""},
		{"BelowTheRoot", w.root.Issue(t), w.rules("localhost"), ""},
		{"TwoIntermediates", sub.Issue(t), w.rules("localhost"), ""},
		{"Wildcard", wildcard, w.rules("api.example.com", "*.example.com", "::1", "[::1]"), ""},
		{"NoPurposeSaid", w.below.Issue(t, func(c *x509.Certificate) { c.ExtKeyUsage, c.KeyUsage = nil, 0 }), w.rules(), ""},
		{"RootSentToo", withRoot, w.rules("localhost"), certfile.RootSent},
		{"RootOfItsOwn", unknown, w.rules("localhost"), certfile.RootUnknown},
		{"SelfSigned", certtest.SelfSigned(t), w.rules("localhost"), certfile.RootUnknown},
		{"OpenRoot", w.strangeBelow.Issue(t), open, certfile.RootUnknown},
		{"LongLife", long, w.rules(), certfile.LongLife},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			warnings, err := tt.rules.Check(now, tt.issued.Pair(t))
			if err != nil {
				t.Fatal(err)
			}
			var codes []certfile.Code
			for _, warning := range warnings {
				codes = append(codes, warning.Code)
			}
			want := []certfile.Code{tt.warning}
			if tt.warning == "" {
				want = nil
			}
			if !slices.Equal(codes, want) {
				t.Errorf("warnings: got %v, want %v", warnings, want)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	w := newTrust(t)
	now := clock.System().Now()
	tests := []struct {
		name  string
		pair  *certfile.Pair
		codes []certfile.Code // all of them, in order
		text  string
	}{
		{
			"KeyOfAnother", mixed(t, w.below.Issue(t), w.below.Issue(t)), codes(certfile.KeyMismatch),
			"test.key: is not the key of the certificate in test.crt",
		},
		{
			"KeyOfAnotherKind", mixed(t, w.below.Issue(t), w.below.IssueFor(t, certtest.RSA(t, 2048))),
			codes(certfile.KeyMismatch), "",
		},
		{
			"Expired", w.below.Issue(t, certtest.Lives(now.AddDate(0, 0, -90), now.Add(-time.Second))).Pair(t),
			codes(certfile.Expired), "test.crt: the certificate expired at 20",
		},
		{
			"NotYetValid", w.below.Issue(t, certtest.Lives(now.Add(time.Minute), now.AddDate(0, 0, 90))).Pair(t),
			codes(certfile.NotYetValid), "is not valid before 20",
		},
		{
			"IntermediateExpired", w.root.Intermediate(t,
				certtest.Lives(now.AddDate(-1, 0, 0), now.Add(-time.Minute))).Issue(t).Pair(t),
			codes(certfile.Expired), `certificate 2, "CN=Test Intermediate`,
		},
		{
			"OtherHost", w.below.Issue(t, certtest.Hosts("trust.example.com")).Pair(t), codes(certfile.HostMissing),
			`does not cover api.example.com: its names are ["trust.example.com"]`,
		},
		{
			"WildcardOfOneLabelOnly", w.below.Issue(t, certtest.Hosts("*.com", "*.api.example.com")).Pair(t),
			codes(certfile.HostMissing), "",
		},
		{"CommonNameOnly", w.below.Issue(t, certtest.Hosts(), func(c *x509.Certificate) {
			c.Subject = pkix.Name{CommonName: "api.example.com"}
		}).Pair(t), codes(certfile.HostMissing), "ignore the common name"},
		{"NotForServers", w.below.Issue(t, good, func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		}).Pair(t), codes(certfile.NotServer), "no serverAuth"},
		{"NoSignatures", w.below.Issue(t, good,
			func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }).Pair(t), codes(certfile.NotServer), ""},
		{
			"Authority", w.below.Issue(t, good, func(c *x509.Certificate) { c.IsCA = true }).Pair(t), codes(certfile.Authority),
			"",
		},
		{
			"SmallRSA", w.below.IssueFor(t, certtest.RSA(t, 1024), good).Pair(t), codes(certfile.WeakKey),
			"an RSA key of 1024 bits: want at least 2048",
		},
		{"OddRSA", w.below.IssueFor(t, certtest.RSA(t, 2047), good).Pair(t), codes(certfile.WeakKey), ""},
		{"P521", w.below.IssueFor(t, certtest.ECDSA(t, elliptic.P521()), good).Pair(t), codes(certfile.KeyKind), "P-521"},
		{"P224", w.below.IssueFor(t, certtest.ECDSA(t, elliptic.P224()), good).Pair(t), codes(certfile.KeyKind), "P-224"},
		{"Ed25519", w.below.IssueFor(t, ed(t), good).Pair(t), codes(certfile.KeyKind), "ed25519"},
		{
			"SHA1", w.below.Issue(t, good, func(c *x509.Certificate) { c.SignatureAlgorithm = x509.ECDSAWithSHA1 }).Pair(t),
			codes(certfile.WeakSignature), "ECDSA-SHA1",
		},
		{"MustStaple", w.below.Issue(t, good, func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{
				{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}, Value: []byte{0x30, 3, 2, 1, 5}},
			}
		}).Pair(t), codes(certfile.StapleDemanded), ""},
		{"UnknownCritical", w.below.Issue(t, good, func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}}}
		}).Pair(t), codes(certfile.ChainInvalid), ""},
		{"OpenRootOfALoneLeaf", w.strange.Issue(t).Pair(t), codes(certfile.ChainIncomplete), "only the leaf"},
		{
			"Everything",
			mixed(t, w.strangeBelow.Issue(t, certtest.Lives(now.AddDate(-2, 0, 0), now.AddDate(-1, 0, 0)),
				certtest.Hosts("a.test")), w.below.Issue(t)),
			codes(certfile.KeyMismatch, certfile.Expired, certfile.NotYetValid, certfile.HostMissing, certfile.ChainIncomplete),
			"",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rules := w.rules("api.example.com")
			rules.OpenRoot = strings.HasPrefix(tt.name, "OpenRoot")
			if !slices.Contains(tt.codes, certfile.HostMissing) {
				rules.Hosts = nil
			}
			at := now
			if tt.name == "Everything" { // the intermediate is younger than its leaf
				at = now.AddDate(0, 0, -1)
			}
			wantRefusal(t, rules, at, tt.pair, tt.codes, tt.text)
		})
	}
}

// TestKeyOnly accepts a pair that clients would reject by default, and refuses the key of another
// certificate.
func TestKeyOnly(t *testing.T) {
	t.Parallel()
	w := newTrust(t)
	now := clock.System().Now()
	rules := certfile.Rules{Hosts: []string{"api.example.com"}, Roots: w.root.Pool(), KeyOnly: true}
	expired := w.strange.Issue(t, certtest.Lives(now.AddDate(-2, 0, 0), now.AddDate(-1, 0, 0)))
	if warnings, err := rules.Check(now, expired.Pair(t)); err != nil || len(warnings) > 0 {
		t.Errorf("got %v, %v, want an expired certificate of an unknown authority accepted", warnings, err)
	}
	wantRefusal(t, rules, now, mixed(t, w.below.Issue(t), w.below.Issue(t)), codes(certfile.KeyMismatch), "is not the key")
	unfit := w.below.IssueFor(t, ed(t)).Write(t, t.TempDir(), "a")
	if _, _, err := certfile.LoadAll(now, rules, []certfile.Files{unfit}); err == nil ||
		!strings.Contains(err.Error(), "ed25519") {
		t.Errorf("got %v, want a refusal of the Ed25519 key", err)
	}
}

// TestTogether narrows the policy until one pair, or two pairs, are no longer accepted.
func TestTogether(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t)
	withEC, withRSA := root.Issue(t).Pair(t), root.IssueFor(t, certtest.RSA(t, 2048)).Pair(t)
	narrow, err := (tlspolicy.Policy{}).Narrow("", []string{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		policy tlspolicy.Policy
		pairs  []*certfile.Pair
		ok     bool
	}{
		{"One", tlspolicy.Policy{}, []*certfile.Pair{withRSA}, true},
		{"Both", tlspolicy.Policy{}, []*certfile.Pair{withEC, withRSA}, true},
		{"TwoOfAKind", tlspolicy.Policy{}, []*certfile.Pair{withEC, root.Issue(t).Pair(t)}, false},
		{"NoSuiteLeft", narrow, []*certfile.Pair{withRSA}, false},
		{"ASuiteForOne", narrow, []*certfile.Pair{withEC, withRSA}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := certfile.Rules{Policy: tt.policy}.Together(tt.pairs)
			refusal := (*certfile.RefusalError)(nil)
			if refused := errors.As(err, &refusal) && refusal.Has(certfile.PairsUnfit); refused == tt.ok {
				t.Errorf("got %v, want ok %v", err, tt.ok)
			}
		})
	}
}

// good changes nothing, so the hosts are localhost's.
func good(*x509.Certificate) {}

func codes(of ...certfile.Code) []certfile.Code { return of }

// mixed has the chain of one and the key of the other.
func mixed(t *testing.T, chain, key *certtest.Issued) *certfile.Pair {
	t.Helper()
	p, err := certfile.Parse(certfile.Files{Chain: "test.crt", Key: "test.key"}, chain.ChainPEM(), key.KeyPEM(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ed(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func wantRefusal(t *testing.T, rules certfile.Rules, now time.Time, p *certfile.Pair, want []certfile.Code,
	text string,
) {
	t.Helper()
	_, err := rules.Check(now, p)
	refusal := (*certfile.RefusalError)(nil)
	if !errors.As(err, &refusal) {
		t.Fatalf("got %v, want a refusal", err)
	}
	var got []certfile.Code
	for _, r := range refusal.Reasons {
		got = append(got, r.Code)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: %v", got, want, err)
	}
	if !strings.Contains(err.Error(), text) {
		t.Errorf("got %q, want %q in it", err, text)
	}
	if strings.Contains(err.Error(), "PRIVATE KEY") || strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("the reason does not fit a log: %q", err)
	}
}
