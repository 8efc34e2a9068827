package credentials

import (
	"cmp"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The bounds of a provider-b client's ids and secret.
const (
	maxMerchant = 64
	maxKeyID    = 128
	minSecret   = 16 // bytes, decoded
)

// entryB is one login of the provider-b dialect.
type entryB struct {
	MerchantID   string          `yaml:"merchant_id"`
	Keys         []keyEntryB     `yaml:"keys"`
	Certificates []config.Secret `yaml:"certificates"` // no secrets, but given in the same three ways
	ResponseKeys []responseB     `yaml:"response_keys"`
	// Portfolio has the merchants for which the login acts. Each needs a separate entry.
	Portfolio       []string      `yaml:"portfolio"`
	APIKey          config.Secret `yaml:"api_key"`
	Currency        string        `yaml:"currency"`
	UnlinkedCredits bool          `yaml:"unlinked_credits"`
	Sandbox         bool          `yaml:"sandbox"`
	Review          string        `yaml:"review"`
	AnyDate         bool          `yaml:"any_date"`
	SignatureAge    time.Duration `yaml:"signature_age"`
}

type keyEntryB struct {
	ID           string        `yaml:"id"`
	SharedSecret config.Secret `yaml:"shared_secret"`
}

type responseB struct {
	KID         string        `yaml:"kid"`
	Certificate config.Secret `yaml:"certificate"`
}

// encryptionB is a key pair to which clients encrypt requests.
type encryptionB struct {
	KID         string        `yaml:"kid"`
	Key         config.Secret `yaml:"key"`
	Certificate config.Secret `yaml:"certificate"`
}

// MaxSignatureAge bounds the difference between the date of a signature and now, either way. A
// signature is accepted for 23 hours in all, and v1 stores its name for 24.
const MaxSignatureAge = 11*time.Hour + 30*time.Minute

// The faults of a provider-b entry, like the faults of provider-a.
var (
	errNoKeys      = errors.New("or certificates is required")
	errSecret      = errors.New("is not base64 of at least 16 bytes")
	errKeyTwice    = errors.New("repeats the id of an earlier key")
	errNoMember    = errors.New("is not the merchant_id of an entry with an api_key")
	errReview      = errors.New(`is not "on" or "off"`)
	errAge         = errors.New("is not between 0s and 11h30m; any_date accepts every date")
	errPrintable   = errors.New("has characters other than letters, digits and . _ -")
	errKeyMismatch = errors.New("does not match the key")
)

// keyTwiceError is a key that an earlier login has.
type keyTwiceError struct{ of *LoginB }

func (*keyTwiceError) Error() string { return errKeyTwice.Error() }

// buildB checks all entries and resolves their secrets. An entry at fault is replaced by its
// version in old, if it has one there. Of entries with one merchant or one key, all are at fault:
// the order of the files does not show which one is right.
func (s set) buildB(old tableB) (tableB, []fault) {
	t := tableB{
		keys: map[string]KeyB{}, certificates: map[[sha256.Size]byte]KeyB{}, logins: make(map[string]*LoginB, len(s.b)),
		decryptionKeys: map[string]decryptionKey{},
	}
	var faults []fault
	seen, unused := map[string]bool{}, map[*LoginB]bool{}
	for _, e := range s.b {
		l := &LoginB{
			ID: e.entry.MerchantID, AnyDate: e.entry.AnyDate, Age: e.entry.SignatureAge, path: e.path,
			grants: map[string]Grant{}, responses: map[string]*rsa.PublicKey{},
		}
		err := e.entry.login(&t, l)
		if err == nil && seen[l.ID] {
			err = fmt.Errorf("merchant_id %w", errTwice)
		}
		seen[l.ID] = true
		if err == nil {
			t.logins[l.ID] = l
			continue
		}
		faults = append(faults, fault{e.path, l.ID, fmt.Errorf("%s.%w", e.at, err)})
		unused[l], unused[t.logins[l.ID]] = true, true
		if twice, of := errors.AsType[*keyTwiceError](err); of && twice.of != l {
			faults = append(faults, fault{e.path, twice.of.ID, faults[len(faults)-1].err})
			unused[twice.of] = true
		}
	}
	for l := range unused {
		t.remove(l)
	}
	for _, l := range old.logins {
		if t.logins[l.ID] == nil && s.keeps(faults, l.path, l.ID) {
			t.keep(old, l)
		}
	}
	faults = append(faults, s.grantMembers(t, old, faults)...)
	return t, append(faults, s.addEncryption(t, old)...)
}

// remove removes a login at fault and its keys.
func (t tableB) remove(l *LoginB) {
	maps.DeleteFunc(t.logins, func(_ string, other *LoginB) bool { return other == l })
	maps.DeleteFunc(t.keys, func(_ string, k KeyB) bool { return k.Login == l })
	maps.DeleteFunc(t.certificates, func(_ [sha256.Size]byte, k KeyB) bool { return k.Login == l })
}

// keep puts a login of old into the table, without the keys that another login has now. It gets
// only its own grant.
func (t tableB) keep(old tableB, was *LoginB) {
	l := *was
	l.grants = map[string]Grant{}
	if own, has := was.grants[l.ID]; has {
		l.grants[l.ID] = own
	}
	t.logins[l.ID] = &l
	for id, k := range old.keys {
		if _, taken := t.keys[id]; k.Login == was && !taken {
			k.Login = &l
			t.keys[id] = k
		}
	}
	for sum, k := range old.certificates {
		if _, taken := t.certificates[sum]; k.Login == was && !taken {
			k.Login = &l
			t.certificates[sum] = k
		}
	}
}

// grantMembers lets each portfolio act for its merchants. A merchant whose login is gone is a
// fault, and the portfolio cannot act for it. A portfolio at fault acts for the merchants of its
// old version.
func (s set) grantMembers(t, old tableB, broken []fault) (faults []fault) {
	granted := func(member string) (Grant, bool) {
		l := t.logins[member]
		if l == nil {
			return Grant{}, false
		}
		return l.Grant(member)
	}
	for id, l := range t.logins {
		if !s.keeps(broken, l.path, id) {
			continue // its entry is below
		}
		for member := range old.logins[id].grants {
			if g, known := granted(member); known {
				l.grants[member] = g
			}
		}
	}
	for _, e := range s.b {
		kept := s.keeps(broken, e.path, e.entry.MerchantID)
		for j, member := range e.entry.Portfolio {
			g, known := granted(member)
			if !known {
				err := fmt.Errorf("%s.portfolio[%d] %w", e.at, j, errNoMember)
				faults = append(faults, fault{e.path, e.entry.MerchantID, err})
			} else if l := t.logins[e.entry.MerchantID]; l != nil && !kept {
				l.grants[member] = g
			}
		}
	}
	return faults
}

// addEncryption adds the keys that decrypt requests. An old one stays if its file is at fault.
func (s set) addEncryption(t, old tableB) (faults []fault) {
	broken := maps.Clone(s.unread)
	for _, e := range s.encryption {
		if err := e.entry.add(e.path, t.decryptionKeys); err != nil {
			broken[e.path] = true
			faults = append(faults, fault{path: e.path, err: fmt.Errorf("%s.%w", e.at, err)})
		}
	}
	for kid, k := range old.decryptionKeys {
		if _, valid := t.decryptionKeys[kid]; !valid && broken[k.path] {
			t.decryptionKeys[kid] = k
		}
	}
	return faults
}

// login checks an entry, completes its login, and puts its keys into the table.
func (e entryB) login(t *tableB, l *LoginB) error {
	if err := identifier("merchant_id", e.MerchantID, maxMerchant); err != nil {
		return err
	}
	if e.SignatureAge < 0 || e.SignatureAge > MaxSignatureAge {
		return fmt.Errorf("signature_age %w", errAge)
	}
	if err := e.grant(l); err != nil {
		return err
	}
	if len(e.Keys)+len(e.Certificates) == 0 && e.APIKey.IsZero() {
		return fmt.Errorf("keys %w", errNoKeys)
	}
	for i, k := range e.Keys {
		if err := k.add(t, l); err != nil {
			return fmt.Errorf("keys[%d].%w", i, err)
		}
	}
	for i, c := range e.Certificates {
		if err := addCertificate(t, l, c); err != nil {
			return fmt.Errorf("certificates[%d] %w", i, err)
		}
	}
	for i, r := range e.ResponseKeys {
		if err := r.add(l.responses); err != nil {
			return fmt.Errorf("response_keys[%d].%w", i, err)
		}
	}
	return nil
}

// grant sets the login's own grant. A portfolio need not have one.
func (e entryB) grant(l *LoginB) error {
	if _, known := money.Lookup(e.Currency); e.Currency != "" && !known {
		return fmt.Errorf("currency %w", errCurrency)
	}
	if e.Review != "" && e.Review != "on" && e.Review != "off" {
		return fmt.Errorf("review %w", errReview)
	}
	if e.APIKey.IsZero() && len(e.Portfolio) > 0 {
		return nil
	}
	apiKey, err := apiKeyOf(e.APIKey, e.Sandbox)
	if err != nil {
		return err
	}
	l.grants[l.ID] = Grant{
		APIKey: apiKey, Currency: e.Currency, UnlinkedRefunds: e.UnlinkedCredits,
		Sandbox: e.Sandbox, NoReview: e.Review == "off",
	}
	return nil
}

func (k keyEntryB) add(t *tableB, l *LoginB) error {
	if err := identifier("id", k.ID, maxKeyID); err != nil {
		return err
	}
	if other, twice := t.keys[k.ID]; twice {
		return fmt.Errorf("id %w", &keyTwiceError{other.Login})
	}
	text, err := resolve("shared_secret", k.SharedSecret)
	if err != nil {
		return err
	}
	decoded, err := decodeSecret(text)
	if err != nil {
		return fmt.Errorf("%s %w", sourced("shared_secret", k.SharedSecret), err)
	}
	t.keys[k.ID] = KeyB{Login: l, Secret: decoded}
	return nil
}

// decodeSecret decodes base64 as clients do: it ignores white space and missing padding.
func decodeSecret(text secret.String) (secret.String, error) {
	clean := strings.TrimRight(strings.Join(strings.FieldsFunc(text.Reveal(), unicode.IsSpace), ""), "=")
	b, err := base64.RawStdEncoding.DecodeString(clean)
	if err != nil || len(b) < minSecret {
		return secret.String{}, errSecret
	}
	return secret.New(string(b)), nil
}

func addCertificate(t *tableB, l *LoginB, c config.Secret) error {
	cert, err := certificate(c)
	if err != nil {
		return err
	}
	key := KeyB{Login: l, Certificate: cert}
	for _, kid := range kidsOf(cert) {
		if other, twice := t.keys[kid]; twice {
			return &keyTwiceError{other.Login}
		}
		t.keys[kid] = key
	}
	t.certificates[sha256.Sum256(cert.Raw)] = key
	return nil
}

func (r responseB) add(to map[string]*rsa.PublicKey) error {
	cert, err := certificate(r.Certificate)
	if err != nil {
		return fmt.Errorf("certificate %w", err)
	}
	kid := cmp.Or(r.KID, kidsOf(cert)[0])
	if _, twice := to[kid]; twice {
		return fmt.Errorf("kid %w", errKeyTwice)
	}
	to[kid], _ = cert.PublicKey.(*rsa.PublicKey) // certificate checked the type
	return nil
}

func (e encryptionB) add(path string, to map[string]decryptionKey) error {
	cert, err := certificate(e.Certificate)
	if err != nil {
		return fmt.Errorf("certificate %w", err)
	}
	key, err := privateKey(e.Key)
	if err != nil {
		return fmt.Errorf("key %w", err)
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return fmt.Errorf("certificate %w", errKeyMismatch)
	}
	kids := kidsOf(cert)
	if e.KID != "" {
		kids = []string{e.KID}
	}
	for _, kid := range kids {
		if _, twice := to[kid]; twice {
			return fmt.Errorf("kid %w", errKeyTwice)
		}
		to[kid] = decryptionKey{path, key}
	}
	return nil
}

// identifier checks a name that clients send in a header.
func identifier(key, name string, longest int) error {
	switch {
	case name == "":
		return fmt.Errorf("%s %w", key, errMissing)
	case len(name) > longest:
		return tooLong(key, longest)
	}
	for _, c := range name {
		if c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("._-", c) {
			return fmt.Errorf("%s %w", key, errPrintable)
		}
	}
	return nil
}
