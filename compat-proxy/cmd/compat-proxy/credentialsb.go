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

// loginB are the flags of provider-b alone.
type loginB struct {
	keyID, secretEnv, secretFile, certificateFile, p12, portfolio string
	noReview, anyDate                                             bool
	age                                                           time.Duration
}

func (b *loginB) set(fs *flag.FlagSet) {
	fs.StringVar(&b.keyID, "key-id", "", "provider-b, map: the `id` of the key that the client has now")
	fs.StringVar(&b.secretEnv, "secret-env", "", "provider-b, map: environment `variable` that has the shared secret where the proxy runs")
	fs.StringVar(&b.secretFile, "secret-file", "", "provider-b: `file` of the shared secret where the proxy runs; issue makes it")
	fs.StringVar(&b.certificateFile, "certificate-file", "", "provider-b, map: `file` of the client's certificate, PEM")
	fs.StringVar(&b.p12, "p12", "", "provider-b, issue: `file` to make, with a key and a certificate for the client")
	fs.StringVar(&b.portfolio, "portfolio", "", "provider-b: merchant `ids` that it may act for, with commas between; it needs no API key then")
	fs.BoolVar(&b.noReview, "no-review", false, "provider-b: capture payments whatever the bank says of address and card code")
	fs.DurationVar(&b.age, "signature-age", 0, "provider-b: how far from now the dates of its signatures may be, at most 11h30m (default that of the proxy)")
	fs.BoolVar(&b.anyDate, "any-date", false, "provider-b: take its signatures whatever their date")
}

// addCredentialsB issues or maps a login of provider-b.
func (m *Main) addCredentialsB(command string, f credentialsFlags) error {
	e := credentials.EntryB{
		MerchantID: f.entry.Name, APIKeyEnv: f.entry.APIKeyEnv, APIKeyFile: f.entry.APIKeyFile, Currency: f.entry.Currency,
		UnlinkedCredits: f.entry.UnlinkedRefunds, NoReview: f.b.noReview, AnyDate: f.b.anyDate, SignatureAge: f.b.age,
	}
	if f.b.portfolio != "" {
		e.Portfolio = strings.Split(f.b.portfolio, ",")
	}
	keyless := e.APIKeyEnv == "" && e.APIKeyFile == "" && len(e.Portfolio) > 0
	switch {
	case e.MerchantID == "":
		return m.misused("--name is required")
	case (e.APIKeyEnv == "") == (e.APIKeyFile == "") && !keyless:
		return m.misused("give one of --api-key-env and --api-key-file")
	case command == "map":
		return m.mapB(f, e)
	}
	return m.issueB(f, e)
}

// mapB takes up what a client has.
func (m *Main) mapB(f credentialsFlags, e credentials.EntryB) error {
	secrets := (f.b.secretEnv != "") != (f.b.secretFile != "")
	switch {
	case f.b.p12 != "":
		return m.misused("issue makes a P12; map takes a certificate that a client has")
	case f.b.keyID == "" && f.b.certificateFile == "":
		return m.misused("give --key-id, --certificate-file or both")
	case (f.b.keyID != "") != secrets:
		return m.misused("give --key-id with one of --secret-env and --secret-file")
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
	return nil
}

// issueB makes a key, a certificate or both. Their files are there before the login is: a proxy that reads it must find them.
func (m *Main) issueB(f credentialsFlags, e credentials.EntryB) (err error) {
	if f.b.keyID != "" || f.b.secretEnv != "" || f.b.certificateFile != "" {
		return m.misused("issue makes keys and certificates itself; map takes those that a client has")
	}
	if f.b.secretFile == "" && f.b.p12 == "" {
		return m.misused("give --secret-file, --p12 or both")
	}
	var made []string
	defer func() {
		for _, path := range made {
			if err != nil {
				_ = os.Remove(path) // nobody has seen it
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
	_, _ = fmt.Fprintf(m.Stdout, "%s\nSecrets and passwords are shown only now.\n", shown)
	return nil
}

// newCertificate makes a certificate in a P12, with the one that requests are encrypted to if the
// credentials have one.
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
		return fmt.Errorf("make a secret file: %w", err)
	}
	return nil
}
