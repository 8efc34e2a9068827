package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/program"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const sealUsage = `mle-filter seal encrypts a request body. It reads JSON from standard input and writes a compact JWE
to standard output, without a line break.

Usage:
  mle-filter seal --key FILE [flags] < body.json > body.jwe

The flags other than --key bind the body to one request: the service rejects it with another path, response key or
Idempotency-Key. So an intermediary can neither remove the demand for an encrypted response nor replay the body.

Example, with the service's current key and an encrypted response:
  curl -sS $BASE/v1/mle/keys/current -H "Authorization: Bearer $KEY" > current.json
  echo '{"amount": 1250, "currency": "usd", "payment_method": "card"}' | mle-filter seal --key current.json \
    --path /v1/transactions --response required --idempotency-key order-1 > body.jwe
  curl -sS $BASE/v1/transactions -H "Authorization: Bearer $KEY" -H 'Content-Type: application/jose' \
    -H 'X-SVC-MLE: v1' -H 'X-SVC-MLE-Response: required' -H 'Idempotency-Key: order-1' --data-binary @body.jwe |
    mle-filter open --private mine.jwk

Flags:
`

const openUsage = `mle-filter open decrypts a response. It reads a compact JWE from standard input and writes the
plaintext to standard output.

Usage:
  mle-filter open --private FILE < response.jwe

The file holds the private JWK of the response key; mle-filter keys new makes one.

Flags:
`

// maxInput bounds the input of the commands.
const maxInput = 8 << 20

// Seal encrypts standard input.
func (m *Main) Seal(args []string) error {
	fs := program.Flags(name+" seal", m.Stderr, sealUsage)
	path := fs.String("key", "", "`file` with the key to encrypt to: a JWK, or the response of GET /v1/mle/keys/current")
	var to jwe.Binding
	fs.StringVar(&to.Path, "path", "", "bind to the `path` of the request, such as /v1/transactions, and to --method")
	fs.StringVar(&to.Method, "method", http.MethodPost, "the `method` of the request, bound with --path")
	fs.StringVar(&to.ResponseTo, "response", "", "bind to the demand for an encrypted response: \"required\", or the "+
		"`id` of the response key")
	fs.StringVar(&to.IdempotencyKey, "idempotency-key", "", "bind to this Idempotency-Key of the request")
	if err := program.Parse(fs, args, 0); err != nil {
		return err
	}
	if *path == "" {
		return m.misused("--key is required")
	}
	key, err := readKey(*path)
	if err != nil {
		return err
	}
	recipient, err := jwe.NewRecipient(key.Public())
	if err != nil {
		return fmt.Errorf("%s: %w", *path, err)
	}
	body, err := m.input()
	if err != nil {
		return err
	}
	if to.Path == "" {
		to.Method = ""
	}
	encrypted, err := recipient.EncryptBound(body, "application/json", clock.System().Now(), to)
	if err != nil {
		return err
	}
	_, err = m.Stdout.Write(encrypted)
	return err
}

// Open decrypts standard input.
func (m *Main) Open(args []string) error {
	fs := program.Flags(name+" open", m.Stderr, openUsage)
	path := fs.String("private", "", "`file` with the private JWK")
	if err := program.Parse(fs, args, 0); err != nil {
		return err
	}
	if *path == "" {
		return m.misused("--private is required")
	}
	key, err := readKey(*path)
	if err != nil {
		return err
	}
	if key.IsPublic() {
		return fmt.Errorf("%s: want a private key, not a public one", *path)
	}
	token, err := m.input()
	if err != nil {
		return err
	}
	if text := bytes.TrimSpace(token); len(text) > 0 && text[0] == '{' {
		return inTheClear(text)
	}
	direct := []jose.KeyAlgorithm{jose.DIRECT}
	if _, err := jose.ParseEncryptedCompact(string(token), direct, []jose.ContentEncryption{jose.A256GCM}); err == nil {
		return errDerived
	}
	message, err := jwe.Parse(token, jwe.Limits{Header: maxInput, Plaintext: maxInput})
	if err != nil {
		return err
	}
	if message.Header.KID != key.KeyID {
		return fmt.Errorf("the message is encrypted to the key %s, but %s holds the key %s", message.Header.KID, *path,
			key.KeyID)
	}
	if err := message.Bind(key.Key, jwe.Alg(key.Algorithm)); err != nil {
		return err
	}
	body, err := message.Decrypt()
	if err != nil {
		return err
	}
	_, err = m.Stdout.Write(body)
	return err
}

// errDerived reports a response that only the program which encrypted the request can decrypt. seal
// does not keep the content key of a request.
var errDerived = errors.New("the response is encrypted under a key that is derived from the request: the merchant " +
	"had no registered response key, or the API key is publishable. Register a key with mle-filter keys register, and " +
	"send the request again with a secret key and the same Idempotency-Key")

// inTheClear returns an error for JSON instead of a compact JWE. It is most likely an error of the
// service, and the text shows it. It is never written to standard output, because it is
// unauthenticated.
func inTheClear(text []byte) error {
	var body v1.ErrorBody
	if err := json.Unmarshal(text, &body); err == nil && body.Error.Code != "" {
		return fmt.Errorf("the input is not encrypted: the service responded %d %s: %s\n%s", body.Error.Status,
			body.Error.Code, body.Error.Message, text)
	}
	return fmt.Errorf("the input is not encrypted:\n%s", text)
}

func (m *Main) input() ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(m.Stdin, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	if len(b) > maxInput {
		return nil, errors.New("standard input: longer than 8 MiB")
	}
	return b, nil
}

// readKey reads a JWK, or an object with a JWK as its member jwk.
func readKey(path string) (jose.JSONWebKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	return parseKey(path, text)
}

func parseKey(name string, text []byte) (jose.JSONWebKey, error) {
	var envelope struct {
		JWK jsontext.Value `json:"jwk"`
	}
	if err := json.Unmarshal(text, &envelope); err == nil && len(envelope.JWK) > 0 {
		text = envelope.JWK
	}
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON(text); err != nil || !key.Valid() || key.KeyID == "" || !jwe.Alg(key.Algorithm).Known() {
		// the library's error would repeat the file
		return jose.JSONWebKey{}, fmt.Errorf("%s: want a JWK with kid and alg, as mle-filter keys new writes it", name)
	}
	return key, nil
}
