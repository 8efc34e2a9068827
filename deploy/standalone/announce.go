package main

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"text/template"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/standalone/internal/devcreds"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ready is the line that --json prints.
type ready struct {
	HTTP      string             `json:"http"`
	HTTPS     string             `json:"https"`
	CA        string             `json:"ca"` // path of a PEM file
	Keys      devcreds.Keys      `json:"keys"`
	ProviderA devcreds.ProviderA `json:"provider_a"`
	ProviderB providerB          `json:"provider_b"`
}

// providerB has the settings of a provider-b client.
type providerB struct {
	MerchantID   string        `json:"merchant_id"`
	KeyID        string        `json:"key_id"`
	SharedSecret secret.String `json:"shared_secret"`
	P12          string        `json:"p12"` // path
	P12Password  secret.String `json:"p12_password"`
}

// announce prints the addresses and credentials in one write to stdout: one line of JSON for
// programs, or the greeting for people.
func (m *Main) announce(u *up) error {
	encode := greeting
	if m.flags.JSON {
		encode = readyLine
	}
	text, err := encode(u, isTerminal(m.stdout))
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = m.stdout.Write(text)
	return err
}

// readyLine returns the line for programs.
func readyLine(u *up, _ bool) ([]byte, error) {
	b := u.credentials.ProviderB
	r := ready{
		HTTP: u.http, HTTPS: u.https, CA: u.ca, Keys: u.credentials.Keys, ProviderA: u.credentials.ProviderA,
		ProviderB: providerB{
			MerchantID: b.MerchantID, KeyID: b.KeyID, SharedSecret: b.SharedSecret, P12: u.p12, P12Password: b.P12Password,
		},
	}
	line, err := json.Marshal(r, json.WithMarshalers(secret.RevealMarshalers()))
	return append(line, '\n'), err
}

// TestEachPrintedRequestWorks runs each request in this text unchanged: a request begins with curl
// and ends at an empty line.
//
//go:embed greeting.txt
var greetingText string

// greeting returns the text for people.
func greeting(u *up, colour bool) ([]byte, error) {
	bold := func(s string) string { return s }
	if colour {
		bold = func(s string) string { return "\x1b[1m" + s + "\x1b[0m" }
	}
	t, err := template.New("greeting").Funcs(template.FuncMap{"bold": bold}).Parse(greetingText)
	if err != nil {
		return nil, err
	}
	k, a, b := u.credentials.Keys, u.credentials.ProviderA, u.credentials.ProviderB
	secretBytes, err := base64.StdEncoding.DecodeString(b.SharedSecret.Reveal())
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = t.Execute(&text, map[string]any{
		"accounts": u.accounts, "data": u.store,
		"add_account": "go run ./core/cmd/" + strings.Replace(core.AddAccount, "mer_…", u.credentials.Merchant, 1),
		"http":        u.http, "https": u.https, "ca": u.ca,
		"sk_test": k.SKTest.Reveal(), "pk_test": k.PKTest.Reveal(), "sk_live": k.SKLive.Reveal(),
		"pk_live": k.PKLive.Reveal(),
		"name":    a.Name, "transaction_key": a.TransactionKey.Reveal(),
		"merchant_id": b.MerchantID, "key_id": b.KeyID, "shared_secret": b.SharedSecret.Reveal(),
		"hex_secret": hex.EncodeToString(secretBytes),
		"p12":        u.p12, "p12_password": b.P12Password.Reveal(),
	})
	return text.Bytes(), err
}

// isTerminal reports whether w is a terminal that may show colours.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
