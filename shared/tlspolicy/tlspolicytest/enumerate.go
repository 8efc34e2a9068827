package tlspolicytest

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// Enumerate returns the suites that the server at addr accepts from a client of this version, in
// the order of their numbers. It tries all 65,536 numbers. It is for TLS 1.2 and older versions.
func Enumerate(tb testing.TB, addr string, version uint16) []uint16 {
	tb.Helper()
	var taken []uint16
	const each = 4096 // a hello that many servers would still read
	for first := 0; first < 1<<16; first += each {
		left := make([]uint16, each)
		for i := range left {
			left[i] = uint16(first + i) //nolint:gosec // below 1<<16
		}
		left = slices.DeleteFunc(left, signal)
		for {
			got, ok := offer(tb, addr, Hello{Version: version, Suites: left})
			if !ok {
				break
			}
			i := slices.Index(left, got.Suite)
			if i < 0 || got.Version > version {
				tb.Fatalf("%s: the server selected version %#x and suite %#x, which were not offered", addr, got.Version, got.Suite)
			}
			taken = append(taken, got.Suite)
			left = slices.Delete(left, i, i+1)
		}
	}
	slices.Sort(taken)
	return taken
}

// signal reports whether a number is a signal to the server instead of a suite. One signal marks a
// second attempt with a lower version. A server that supports a higher version rejects that
// attempt.
func signal(suite uint16) bool { return suite == tls.TLS_FALLBACK_SCSV }

// Obeys compares the server at addr with the policy. The server's only certificate has a key of
// this kind (ECDSA or RSA). The server must accept exactly the policy's suites of TLS 1.2, no older
// version, and no signature algorithm outside of the policy.
func Obeys(tb testing.TB, addr, key string, p tlspolicy.Policy) {
	tb.Helper()
	for _, old := range []uint16{0x0300, tls.VersionTLS10, tls.VersionTLS11} { // SSL 3.0 first
		if got := Enumerate(tb, addr, old); len(got) > 0 {
			tb.Errorf("%s: with version %#x: got suites %#x, want none", addr, old, got)
		}
	}
	var want []uint16
	for _, s := range slices.Concat(p.Groups()...) {
		if strings.HasPrefix(s.Name, "TLS_ECDHE_"+key+"_") {
			want = append(want, s.ID)
		}
	}
	slices.Sort(want)
	if got := Enumerate(tb, addr, tls.VersionTLS12); !slices.Equal(got, want) {
		tb.Errorf("%s: with TLS 1.2: got suites %#x, want %#x", addr, got, want)
	}
	for _, s := range strangers(p) {
		if got, ok := offer(tb, addr,
			Hello{Version: tls.VersionTLS12, Suites: want, Signatures: []tls.SignatureScheme{s}}); ok {
			tb.Errorf("%s: signed by %#x: got %+v, want a refusal", addr, uint16(s), got)
		}
	}
}

// strangers returns the signature algorithms that the policy does not have, with SHA-1 and MD5.
func strangers(p tlspolicy.Policy) []tls.SignatureScheme {
	var all []tls.SignatureScheme
	for hash := range tls.SignatureScheme(6) { // MD5, SHA-1, SHA-2 from 224 on
		for signature := range tls.SignatureScheme(3) { // RSA, DSA, ECDSA
			all = append(all, (hash+1)<<8|signature+1)
		}
	}
	for low := range tls.SignatureScheme(8) { // RSA-PSS with both key types, Ed25519 and Ed448
		all = append(all, 0x0804+low)
	}
	return slices.DeleteFunc(all, func(s tls.SignatureScheme) bool {
		return slices.ContainsFunc(p.Signatures(), func(ours tlspolicy.Signature) bool { return ours.ID == s })
	})
}

// offer reports whether the server took the hello.
func offer(tb testing.TB, addr string, h Hello) (Taken, bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), programtest.Patience)
	defer cancel()
	got, err := Offer(ctx, addr, h)
	if err != nil && !errors.Is(err, ErrRefused) {
		tb.Fatalf("%s: %v", addr, err)
	}
	return got, err == nil
}
