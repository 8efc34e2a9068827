package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
	"github.com/causeway-pay/causeway/shared/durable"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// newKey makes a response key pair.
func (m *Main) newKey(_ context.Context, f keysFlags) error {
	if f.out == "" {
		return m.misused("keys new: --out is required")
	}
	var private crypto.Signer
	var err error
	if f.alg == string(engine.RSAOAEP256) {
		private, err = rsa.GenerateKey(rand.Reader, 3072)
	} else {
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		return err
	}
	key := jose.JSONWebKey{Key: private, Algorithm: f.alg, Use: "enc"}
	print, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return err
	}
	key.KeyID = base64.RawURLEncoding.EncodeToString(print)
	text, err := key.MarshalJSON()
	if err != nil {
		return err
	}
	public, err := key.Public().MarshalJSON()
	if err != nil {
		return err
	}
	if err := durable.CreateFile(f.out, append(text, '\n'), 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(m.Stdout, "%s\n", public)
	return err
}

// currentKey shows the key that clients encrypt to.
func (m *Main) currentKey(ctx context.Context, f keysFlags) error {
	body, err := m.call(ctx, f, http.MethodGet, "keys/current?alg="+url.QueryEscape(f.alg), nil)
	if err == nil {
		_, err = fmt.Fprintf(m.Stdout, "%s\n", bytes.TrimSpace(body))
	}
	return err
}

// registerKey registers a response key. It proves possession of the private half by decrypting the
// challenge.
func (m *Main) registerKey(ctx context.Context, f keysFlags) error {
	if f.private == "" {
		return m.misused("keys register: --private is required")
	}
	key, err := readKey(f.private)
	if err != nil {
		return err
	}
	public, err := key.Public().MarshalJSON()
	if err != nil {
		return err
	}
	body, err := m.call(ctx, f, http.MethodPost, "response_keys", []byte(`{"jwk":`+string(public)+`}`))
	if err != nil {
		return err
	}
	var made struct {
		Kid       string `json:"kid"`
		Challenge struct {
			JWE string `json:"jwe"`
		} `json:"challenge"`
	}
	if err := json.Unmarshal(body, &made); err != nil {
		return fmt.Errorf("read the registered key in the response: %w", err)
	}
	plaintext, err := decrypt(key, made.Challenge.JWE)
	if err != nil {
		return err
	}
	proof, err := json.Marshal(map[string]string{"answer": plaintext})
	if err != nil {
		return err
	}
	if _, err := m.call(ctx, f, http.MethodPost, "response_keys/"+made.Kid+"/challenge", proof); err != nil {
		return err
	}
	_, err = fmt.Fprintf(m.Stdout, "registered %s\n", made.Kid)
	return err
}

// decrypt decrypts a message to a key.
func decrypt(key jose.JSONWebKey, token string) (string, error) {
	message, err := jwe.Parse([]byte(token), jwe.Limits{Header: maxInput, Plaintext: maxInput})
	if err != nil {
		return "", err
	}
	if err := message.Bind(key.Key, jwe.Alg(key.Algorithm)); err != nil {
		return "", err
	}
	plaintext, err := message.Decrypt()
	return string(plaintext), err
}

// call sends a request to /v1/mle/. It returns an error for a response with an error status.
func (m *Main) call(ctx context.Context, f keysFlags, method, path string, body []byte) ([]byte, error) {
	key := os.Getenv(f.apiKeyEnv)
	if f.apiKeyEnv == "" || key == "" {
		return nil, m.misused("--api-key-env: %q is not the name of a variable that holds an API key", f.apiKeyEnv)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(f.v1, "/")+"/v1/mle/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxInput))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		var body v1.ErrorBody
		if err := json.Unmarshal(text, &body); err != nil {
			return nil, fmt.Errorf("%s: HTTP %d without a v1 error in its body", r.URL, response.StatusCode)
		}
		return nil, fmt.Errorf("%s: %s", body.Error.Code, body.Error.Message)
	}
	return text, nil
}
