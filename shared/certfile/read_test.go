package certfile_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/clock"
)

func TestReadTakesEveryFormOfKeys(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t)
	rsaKey, ecKey := certtest.RSA(t, 2048), certtest.ECDSA(t, elliptic.P256())
	withRSA, withEC := root.IssueFor(t, rsaKey), root.IssueFor(t, ecKey)
	parameters := pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8, 42, 134, 72, 206, 61, 3, 1, 7}})
	tests := []struct {
		name   string
		issued *certtest.Issued
		chain  []byte
		key    []byte
	}{
		{"PKCS8RSA", withRSA, withRSA.ChainPEM(), withRSA.KeyPEM(t)},
		{"PKCS8ECDSA", withEC, withEC.ChainPEM(), withEC.KeyPEM(t)},
		{"PKCS1", withRSA, withRSA.ChainPEM(), pkcs1(rsaKey)},
		{"SEC1", withEC, withEC.ChainPEM(), sec1(t, ecKey)},
		{"SEC1WithParameters", withEC, withEC.ChainPEM(), append(parameters, sec1(t, ecKey)...)},
		{"BothInOne", withEC, append(withEC.KeyPEM(t), withEC.ChainPEM()...), append(withEC.ChainPEM(), sec1(t, ecKey)...)},
		{
			"TextAround", withEC, []byte("subject=CN = localhost\n\n" + string(withEC.ChainPEM()) + "\nend\n"),
			withEC.KeyPEM(t),
		},
		{"CarriageReturns", withEC, bytes.ReplaceAll(withEC.ChainPEM(), []byte("\n"), []byte("\r\n")), withEC.KeyPEM(t)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := certfile.Files{Chain: filepath.Join(t.TempDir(), "a.crt"), Key: filepath.Join(t.TempDir(), "a.key")}
			mustWrite(t, files.Chain, tt.chain)
			mustWrite(t, files.Key, tt.key)
			p, _, err := files.Load(clock.System().Now(), certfile.Rules{Hosts: []string{"localhost"}, Roots: root.Pool()})
			if err != nil {
				t.Fatal(err)
			}
			if !p.Leaf().Equal(tt.issued.Leaf) || !bytes.Equal(p.Chain, tt.issued.ChainPEM()) ||
				p.Key.Reveal() != string(tt.issued.KeyPEM(t)) || p.From != files {
				t.Errorf("got another pair: %+v", p)
			}
			if p.Certificate.Leaf != p.Leaf() || len(p.Certificate.Certificate) != len(tt.issued.Chain) {
				t.Error("the certificate for Go's listeners is not whole")
			}
			if printed := fmt.Sprintf("%v %+v %s", p.Key, p.Key, p.Key); strings.Contains(printed, "KEY") {
				t.Errorf("the key prints: %s", printed)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	issued := certtest.Root(t).Intermediate(t).Issue(t)
	chain, key := issued.ChainPEM(), issued.KeyPEM(t)
	ends := bytes.LastIndex(chain, []byte("-----BEGIN"))
	damaged := bytes.Clone(chain)
	damaged[bytes.IndexByte(damaged, '\n')+5] = '!'
	csr := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte{1}})
	tests := []struct {
		name       string
		chain, key []byte
		text       string
	}{
		{"NoChain", nil, key, "contains no certificate in PEM form"},
		{"NoKey", chain, nil, "contains no private key in PEM form"},
		{"DER", issued.Leaf.Raw, key, "contains no certificate in PEM form"},
		{"CutOffInTheLeaf", chain[:100], key, "cut off"},
		{"CutOffInTheIntermediate", chain[:ends+100], key, "cut off"},
		{"CutOffKey", chain, key[:len(key)-10], "cut off"},
		{"DamagedLeaf", damaged, key, "damaged"},
		{
			"Garbage", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("no certificate")}), key,
			"certificate 1 cannot be read",
		},
		{
			"GarbageKey", chain, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("no key at all")}),
			"the PRIVATE KEY cannot be read",
		},
		{
			"KeyUnderAnotherName", chain, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der(t, key)}),
			"the RSA PRIVATE KEY cannot be read",
		},
		{"Request", csr, key, `contains a "CERTIFICATE REQUEST" block`},
		{
			"PublicKey", chain, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte{1}}),
			`contains a "PUBLIC KEY" block`,
		},
		{
			"Encrypted", chain, pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}}),
			"is encrypted: store it without a passphrase",
		},
		{"EncryptedTheOldWay", chain, pem.EncodeToMemory(&pem.Block{
			Type: "RSA PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"},
			Bytes: []byte{1},
		}), "is encrypted: store it without a passphrase"},
		{"TwoKeys", chain, append(bytes.Clone(key), key...), "more than one private key"},
		{"KeyAgreementOnly", chain, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: x25519(t)}), "cannot sign"},
		{"TooManyCertificates", bytes.Repeat(chain, 6), key, "more than 10 certificates"},
		{"TooLarge", append(bytes.Clone(chain), make([]byte, 64<<10)...), key, "is larger than 65536 bytes"},
		{"KeyTooLarge", chain, append(bytes.Clone(key), make([]byte, 16<<10)...), "is larger than 16384 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := certfile.Files{Chain: filepath.Join(t.TempDir(), "a.crt"), Key: filepath.Join(t.TempDir(), "a.key")}
			mustWrite(t, files.Chain, tt.chain)
			mustWrite(t, files.Key, tt.key)
			_ = wantUnreadable(t, files, tt.text)
		})
	}
	t.Run("Missing", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		err := wantUnreadable(t, certfile.Files{Chain: filepath.Join(dir, "a.crt"), Key: filepath.Join(dir, "a.key")},
			"a.key: no such file")
		if strings.Count(err.Error(), "a.crt") != 1 {
			t.Errorf("got %q, want each name once", err)
		}
	})
	t.Run("Folder", func(t *testing.T) {
		t.Parallel()
		_ = wantUnreadable(t, certfile.Files{Chain: t.TempDir(), Key: t.TempDir()}, "is not a regular file")
	})
	t.Run("Pipe", func(t *testing.T) {
		t.Parallel()
		pipe := filepath.Join(t.TempDir(), "a.crt")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = wantUnreadable(t, certfile.Files{Chain: pipe, Key: pipe}, "is not a regular file")
	})
}

func wantUnreadable(t *testing.T, files certfile.Files, text string) error {
	t.Helper()
	_, err := files.Read()
	refusal := (*certfile.RefusalError)(nil)
	if !errors.As(err, &refusal) || !refusal.Has(certfile.Unreadable) {
		t.Fatalf("got %v, want a refusal for %s", err, certfile.Unreadable)
	}
	if !strings.Contains(err.Error(), text) {
		t.Errorf("got %q, want %q in it", err, text)
	}
	return err
}

func mustWrite(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func der(t *testing.T, text []byte) []byte {
	t.Helper()
	block, _ := pem.Decode(text)
	return block.Bytes
}

func pkcs1(key *rsa.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

func sec1(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	bytes, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes})
}

func x25519(t *testing.T) []byte {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
