package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/durable"
)

// loginB holds the flags that only provider-b has.
type loginB struct {
	keyID, secretEnv, secretFile, certificateFile, p12, portfolio string
	noReview, anyDate                                             bool
	age                                                           time.Duration
}

func (b *loginB) set(fs *flag.FlagSet) {
	fs.StringVar(&b.keyID, "key-id", "", "provider-b, map: the `id` of the client's present key")
	fs.StringVar(&b.secretEnv, "secret-env", "",
		"provider-b, map: environment `variable` with the shared secret, on the proxy's machine")
	fs.StringVar(&b.secretFile, "secret-file", "",
		"provider-b: `file` with the shared secret, on the proxy's machine; issue creates it")
	fs.StringVar(&b.certificateFile, "certificate-file", "",
		"provider-b, map: `file` with the client's certificate in PEM")
	fs.StringVar(&b.p12, "p12", "", "provider-b, issue: new `file` for a key and a certificate of the client")
	fs.StringVar(&b.portfolio, "portfolio", "",
		"provider-b: comma-separated merchant `ids` for which the login may act; it then needs no API key")
	fs.BoolVar(&b.noReview, "no-review", false,
		"provider-b: capture payments with any result of the address and security code checks")
	fs.DurationVar(&b.age, "signature-age", 0,
		"provider-b: greatest difference between a signature's date and now, at most 11h30m (default the proxy's)")
	fs.BoolVar(&b.anyDate, "any-date", false, "provider-b: accept signatures of any date")
}

// addCredentialsB issues or maps a login of provider-b.
func (m *Main) addCredentialsB(command string, f credentialsFlags) error {
	e := credentials.EntryB{
		MerchantID: f.entry.Name, APIKeyEnv: f.entry.APIKeyEnv, APIKeyFile: f.entry.APIKeyFile, Currency: f.entry.Currency,
		UnlinkedCredits: f.entry.UnlinkedRefunds, Sandbox: f.entry.Sandbox, NoReview: f.b.noReview, AnyDate: f.b.anyDate,
		SignatureAge: f.b.age,
	}
	if f.b.portfolio != "" {
		e.Portfolio = strings.Split(f.b.portfolio, ",")
	}
	keyless := e.APIKeyEnv == "" && e.APIKeyFile == "" && len(e.Portfolio) > 0
	switch {
	case e.MerchantID == "":
		return m.misused("--name is required")
	case (e.APIKeyEnv == "") == (e.APIKeyFile == "") && !keyless:
		return m.misused("give the API key by either --api-key-env or --api-key-file")
	case command == "map":
		return m.mapB(f, e)
	}
	return m.issueB(f, e)
}

// mapB maps the existing keys of a client.
func (m *Main) mapB(f credentialsFlags, e credentials.EntryB) error {
	secrets := (f.b.secretEnv != "") != (f.b.secretFile != "")
	switch {
	case f.b.p12 != "":
		return m.misused("--p12 is only for issue; map needs the client's certificate as --certificate-file")
	case f.b.keyID == "" && f.b.certificateFile == "":
		return m.misused("map needs the client's --key-id, its --certificate-file or both")
	case (f.b.keyID != "") != secrets:
		return m.misused("--key-id needs its shared secret by either --secret-env or --secret-file")
	}
	e.KeyID, e.SecretEnv, e.SecretFile = f.b.keyID, f.b.secretEnv, f.b.secretFile
	if f.b.certificateFile != "" {
		text, err := os.ReadFile(f.b.certificateFile)
		if err != nil {
			return fmt.Errorf("certificate: %w", err)
		}
		e.Certificate = string(text)
	}
	if err := credentials.Add(f.file, e, f.replace); err != nil {
		return err
	}
	m.warn(f.file)
	_, _ = fmt.Fprintf(m.Stdout, "merchant id:   %s\n", e.MerchantID)
	m.wrote(f.file, credentials.ListB, e.MerchantID)
	return nil
}

// issueB makes a key, a certificate or both. It writes their files before the login, because a
// proxy that reads the login must find them.
func (m *Main) issueB(f credentialsFlags, e credentials.EntryB) (err error) {
	if f.b.keyID != "" || f.b.secretEnv != "" || f.b.certificateFile != "" {
		return m.misused("--key-id, --secret-env and --certificate-file are only for map; issue makes new keys")
	}
	if f.b.secretFile == "" && f.b.p12 == "" {
		return m.misused("issue needs --secret-file, --p12 or both, for the new secrets")
	}
	var made []string
	defer func() {
		for _, path := range made {
			if err != nil {
				_ = os.Remove(path) // the failed command has not shown it
			}
		}
	}()
	shown := "merchant id:   " + e.MerchantID + "\n"
	if f.b.secretFile != "" {
		id, secret := credentials.NewSharedSecretB()
		if err := writeNew(f.b.secretFile, []byte(secret.Reveal()+"\n"), &made); err != nil {
			return err
		}
		e.KeyID, e.SecretFile = id, f.b.secretFile
		shown += "key id:        " + id + "\nshared secret: " + secret.Reveal() + "\n"
	}
	if f.b.p12 != "" {
		c, err := newCertificate(f.file, e.MerchantID)
		if err != nil {
			return err
		}
		if err := writeNew(f.b.p12, c.P12, &made); err != nil {
			return err
		}
		e.Certificate = c.Certificate
		shown += "P12:           " + f.b.p12 + "\nP12 password:  " + c.Password.Reveal() + "\n"
	}
	if err := credentials.Add(f.file, e, f.replace); err != nil {
		return err
	}
	m.warn(f.file)
	_, _ = fmt.Fprintf(m.Stdout, "%s\nStore the secrets and passwords now: they are not shown again.\n", shown)
	m.wrote(f.file, credentials.ListB, e.MerchantID)
	return nil
}

// newCertificate makes a certificate in a P12. If the credentials have a certificate for encrypting
// requests, the P12 has it too.
func newCertificate(file, merchant string) (credentials.CertificateB, error) {
	encryption, err := credentials.EncryptionCertificate(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return credentials.CertificateB{}, err
	}
	return credentials.NewCertificateB(merchant, encryption, clock.System().Now())
}

// writeNew creates a secret file, which must not exist, and appends its path to made.
func writeNew(path string, content []byte, made *[]string) error {
	err := durable.CreateFile(path, content, 0o600)
	if !errors.Is(err, fs.ErrExist) {
		*made = append(*made, path)
	}
	if err != nil {
		return fmt.Errorf("write a new secret: %w", err)
	}
	return nil
}
