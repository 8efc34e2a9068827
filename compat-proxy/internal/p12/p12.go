package p12

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // an identifier, by which the key finds its certificate
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"unicode/utf16"

	"github.com/causeway-pay/causeway/shared/secret"
)

// Certificate is a certificate with the name by which programs find it.
type Certificate struct {
	DER  []byte
	Name string
}

var (
	oidData         = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidEncrypted    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 6}
	oidKeyBag       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 2}
	oidCertBag      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 3}
	oidX509         = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 22, 1}
	oidFriendlyName = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 20}
	oidLocalKeyID   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 21}
	oidSHA256       = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidPBES2        = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidHMACSHA256   = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
	oidAES256CBC    = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
	oidTrusted      = asn1.ObjectIdentifier{2, 16, 840, 1, 113894, 746875, 1, 1}
)

type contentInfo struct {
	Type    asn1.ObjectIdentifier
	Content asn1.RawValue `asn1:"tag:0,explicit"`
}

type encryptedData struct {
	Version int
	Content struct {
		Type       asn1.ObjectIdentifier
		Algorithm  algorithm
		Ciphertext []byte `asn1:"tag:0"`
	}
}

type safeBag struct {
	ID         asn1.ObjectIdentifier
	Value      asn1.RawValue `asn1:"tag:0,explicit"`
	Attributes []attribute   `asn1:"set,optional,omitempty"`
}

type attribute struct {
	ID     asn1.ObjectIdentifier
	Values []asn1.RawValue `asn1:"set"`
}

type certBag struct {
	ID  asn1.ObjectIdentifier
	DER []byte `asn1:"tag:0,explicit"`
}

type pfx struct {
	Version  int
	AuthSafe contentInfo
	MAC      macData
}

// Encode returns a file with the key, its certificate and further ones, encrypted with the
// password.
func Encode(key *rsa.PrivateKey, own Certificate, others []Certificate, password secret.String) ([]byte, error) {
	out, err := encode(key, own, others, password)
	if err != nil {
		return nil, fmt.Errorf("p12: %w", err)
	}
	return out, nil
}

func encode(key *rsa.PrivateKey, own Certificate, others []Certificate, password secret.String) ([]byte, error) {
	id := sha1.Sum(own.DER) //nolint:gosec // see above
	certs, err := certificates(own, others, id[:])
	if err != nil {
		return nil, err
	}
	keys, err := shrouded(key, own.Name, id[:], password)
	if err != nil {
		return nil, err
	}
	safe, err := asn1.Marshal([]contentInfo{encryptedContent(certs, password), data(keys)})
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(pfx{Version: 3, AuthSafe: data(safe), MAC: macOf(safe, password)})
}

// trusted marks a certificate without a key, for any use (2.5.29.37.0): Java ignores it otherwise.
var trusted = attribute{oidTrusted, []asn1.RawValue{{Tag: asn1.TagOID, Bytes: []byte{0x55, 0x1d, 0x25, 0}}}}

// certificates returns the safe of all certificates. Only the own one has the key's id.
func certificates(own Certificate, others []Certificate, id []byte) ([]byte, error) {
	bags := make([]safeBag, 0, 1+len(others))
	for i, c := range append([]Certificate{own}, others...) {
		value, err := asn1.Marshal(certBag{ID: oidX509, DER: c.DER})
		if err != nil {
			return nil, err
		}
		bag := safeBag{ID: oidCertBag, Value: raw(value)}
		if i == 0 {
			bag.Attributes = attributes(c.Name, id)
		} else {
			bag.Attributes = append(attributes(c.Name, nil), trusted)
		}
		bags = append(bags, bag)
	}
	return asn1.Marshal(bags)
}

// shrouded returns the safe of the key.
func shrouded(key *rsa.PrivateKey, name string, id []byte, password secret.String) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	how, ciphertext := encrypt(der, password)
	value, err := asn1.Marshal(struct {
		Algorithm  algorithm
		Ciphertext []byte
	}{how, ciphertext})
	if err != nil {
		return nil, err
	}
	return asn1.Marshal([]safeBag{{ID: oidKeyBag, Value: raw(value), Attributes: attributes(name, id)}})
}

func attributes(name string, id []byte) []attribute {
	var list []attribute
	if name != "" {
		value := asn1.RawValue{Tag: asn1.TagBMPString}
		for _, c := range utf16.Encode([]rune(name)) {
			value.Bytes = append(value.Bytes, byte(c>>8), byte(c)) //nolint:gosec // both halves of it
		}
		list = append(list, attribute{oidFriendlyName, []asn1.RawValue{value}})
	}
	if id != nil {
		list = append(list, attribute{oidLocalKeyID, []asn1.RawValue{{Tag: asn1.TagOctetString, Bytes: id}}})
	}
	return list
}

// data returns an unencrypted content.
func data(content []byte) contentInfo {
	octets, _ := asn1.Marshal(content) // an encoding of bytes never fails
	return contentInfo{Type: oidData, Content: raw(octets)}
}

// encryptedContent returns a content encrypted with the password.
func encryptedContent(content []byte, password secret.String) contentInfo {
	var e encryptedData
	e.Content.Type = oidData
	e.Content.Algorithm, e.Content.Ciphertext = encrypt(content, password)
	out, _ := asn1.Marshal(e) // the types are our own
	return contentInfo{Type: oidEncrypted, Content: raw(out)}
}

// raw puts an encoded value under an explicit tag 0.
func raw(der []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: der}
}

// random returns n random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return b
}
