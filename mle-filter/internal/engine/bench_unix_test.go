//go:build unix

package engine_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	josecipher "github.com/go-jose/go-jose/v4/cipher"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

// BenchmarkUnwrap is P6 of the design: the cost of a request of 1 KiB in the engine, compared with
// Go's bare primitives. The bare side gets the same message, already parsed and decoded.
// deploy/bench runs both sides in turn. It prints the ratio of their processor time, which other
// load on the machine hardly changes.
func BenchmarkUnwrap(b *testing.B) {
	for _, alg := range []engine.Alg{engine.RSAOAEP256, engine.ECDHESA256KW} {
		key := enginetest.NewKey(b, alg, 2048)
		sent := []byte(enginetest.Forge{Key: key}.Encrypt(b, strings.Repeat("x", 1024)))
		if private, ok := key.Private.(*ecdsa.PrivateKey); ok {
			key.Private = mustECDH(b, private)
		}
		b.Run(string(alg)+"/engine", func(b *testing.B) {
			ring := &enginetest.Ring{}
			ring.Add(enginetest.Merchant, key)
			x := mustNeedBody(b, mustEngine(b, engine.Config{Keys: ring}))
			measure(b, func() bool {
				_, p := x.Unwrap(b.Context(), sent)
				return p == nil
			})
		})
		b.Run(string(alg)+"/bare", func(b *testing.B) {
			parts := takeApart(b, sent)
			measure(b, func() bool {
				plaintext, err := parts.open(key.Private)
				return err == nil && len(plaintext) == 1024
			})
		})
	}
}

// measure runs a benchmark and also reports processor time.
func measure(b *testing.B, run func() bool) {
	b.Helper()
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		if !run() {
			b.Fatal("it failed")
		}
	}
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func mustECDH(tb testing.TB, key *ecdsa.PrivateKey) *ecdh.PrivateKey {
	tb.Helper()
	out, err := key.ECDH()
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// bare is a message split into its decoded parts.
type bare struct {
	protected, wrapped, iv, ciphertext []byte
	point                              []byte
}

func takeApart(tb testing.TB, sent []byte) bare {
	tb.Helper()
	segments := bytes.Split(sent, []byte{'.'})
	decoded := make([][]byte, len(segments))
	for i, s := range segments {
		decoded[i] = mustDecode(tb, string(s))
	}
	out := bare{protected: segments[0], wrapped: decoded[1], iv: decoded[2], ciphertext: append(decoded[3], decoded[4]...)}
	var header struct {
		EPK struct{ X, Y string } `json:"epk"`
	}
	if err := json.Unmarshal(decoded[0], &header); err != nil {
		tb.Fatal(err)
	}
	out.point = append(append([]byte{4}, mustDecode(tb, header.EPK.X)...), mustDecode(tb, header.EPK.Y)...)
	return out
}

func mustDecode(tb testing.TB, text string) []byte {
	tb.Helper()
	out, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func (m bare) open(private any) ([]byte, error) {
	var cek []byte
	var err error
	switch key := private.(type) {
	case *rsa.PrivateKey:
		cek, err = rsa.DecryptOAEP(sha256.New(), rand.Reader, key, m.wrapped, nil)
	case *ecdh.PrivateKey:
		cek, err = m.agree(key)
	}
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(cek)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return gcm.Open(nil, m.iv, m.ciphertext, m.protected)
}

func (m bare) agree(private *ecdh.PrivateKey) ([]byte, error) {
	public, err := ecdh.P256().NewPublicKey(m.point)
	if err != nil {
		return nil, err
	}
	secret, err := private.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := binary.BigEndian.AppendUint32(nil, 1)
	info = append(info, secret...)
	info = binary.BigEndian.AppendUint32(info, uint32(len(engine.ECDHESA256KW)))
	info = append(info, engine.ECDHESA256KW...)
	info = append(info, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0)
	kek := sha256.Sum256(info)
	block, err := aes.NewCipher(kek[:])
	if err != nil {
		return nil, err
	}
	return josecipher.KeyUnwrap(block, m.wrapped)
}
