package bench

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// cipher is a way to encrypt a payment and its answer: what M1 and M2 send by.
type cipher struct {
	name, alg string
	body      string // the payment, encrypted
	reply     string // the key id of the key for answers
	private   string // its file
	kid       string // of the filter's key
}

func ciphers() []*cipher {
	return []*cipher{{name: "P-256", alg: "ECDH-ES+A256KW"}, {name: "RSA-3072", alg: "RSA-OAEP-256"}}
}

// merchant is a client's side of message-level encryption, by the commands of mle-filter.
type merchant struct {
	program, folder, addr, key string
}

const keyVariable = "CAUSEWAY_BENCH_KEY"

// prepare makes and registers a key for answers and encrypts the payment.
func (m *merchant) prepare(ctx context.Context, c *cipher) error {
	c.private = filepath.Join(m.folder, c.name+".jwk")
	current := filepath.Join(m.folder, c.name+".json")
	public, err := m.run(ctx, "", "keys", "new", "--alg", c.alg, "--out", c.private)
	if err != nil {
		return err
	}
	at := []string{"--v1", "http://" + m.addr, "--api-key-env", keyVariable}
	if _, err := m.run(ctx, "", append([]string{"keys", "register", "--private", c.private}, at...)...); err != nil {
		return err
	}
	key, err := m.current(ctx, append([]string{"keys", "current", "--alg", c.alg}, at...))
	if err != nil {
		return err
	}
	if err := os.WriteFile(current, []byte(key), 0o600); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	var own, theirs struct {
		KID string `json:"kid"`
	}
	if err := errors.Join(json.Unmarshal([]byte(public), &own), json.Unmarshal([]byte(key), &theirs)); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	c.reply, c.kid = own.KID, theirs.KID
	c.body, err = m.run(ctx, paymentBody, "seal", "--key", current)
	return err
}

// current asks for the filter's key until it is there: RSA keys take it a moment to make.
func (m *merchant) current(ctx context.Context, command []string) (key string, err error) {
	for range keyTries {
		if key, err = m.run(ctx, "", command...); err == nil {
			return key, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(keyPause):
		}
	}
	return "", err
}

const (
	keyTries = 60
	keyPause = 500 * time.Millisecond
)

func (m *merchant) run(ctx context.Context, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, m.program, args...) //nolint:gosec // built by this run
	cmd.Env, cmd.Stdin = append(os.Environ(), keyVariable+"="+m.key), strings.NewReader(in)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("mle-filter %s: %w: %s", strings.Join(args[:min(2, len(args))], " "), err, wrong.String())
	}
	return string(out), nil
}

// request is the payment to addr, encrypted both ways.
func (m *merchant) request(addr string, c *cipher) (*load.Request, error) {
	headers := []string{
		"Authorization: Bearer " + m.key, "Content-Type: application/jose", "X-SVC-MLE: v1", "X-SVC-MLE-Response: required",
		"X-SVC-MLE-Response-Kid: " + c.reply, "Idempotency-Key: {slot}",
	}
	return load.NewRequest("POST", addr, "/v1/transactions", headers, c.body, keyWidth)
}

// clear is the payment to addr as it is.
func (m *merchant) clear(addr string) (*load.Request, error) {
	headers := []string{"Authorization: Bearer " + m.key, "Content-Type: application/json", "Idempotency-Key: {slot}"}
	return load.NewRequest("POST", addr, "/v1/transactions", headers, paymentBody, keyWidth)
}

// sealedWant is what an encrypted answer begins with, as far as the load generator looks at it; proven opens one.
func sealedWant() load.Want { return load.Want{Status: 201, Contains: []byte("eyJ")} }

// proven sends one payment and wants the answer to open, and to say that it was made.
func (b *Bench) proven(ctx context.Context, m *merchant, addr string, c *cipher) error {
	request, err := m.request(addr, c)
	if err != nil {
		return err
	}
	conn, err := load.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the answer was read
	var answer load.Response
	if err := conn.Do(request.Bytes(b.freshKey, 0), &answer); err != nil {
		return err
	}
	want := sealedWant()
	if err := want.Check(&answer); err != nil {
		return err
	}
	text, err := m.run(ctx, string(answer.Body), "open", "--private", c.private)
	if err != nil {
		return err
	}
	want = created(false)
	return want.Check(&load.Response{Status: answer.Status, Body: []byte(text)})
}

// junkBody is what looks like a message to the filter's RSA key, and is none: it costs its sender nothing and the filter a private operation.
func junkBody(c *cipher) string {
	encoded := func(n int, with byte) string {
		return base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{with}, n))
	}
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"` + c.alg + `","enc":"A256GCM","kid":"` + c.kid + `"}`))
	return header + "." + encoded(rsaBytes, 1) + "." + encoded(12, 2) + "." + encoded(512, 3) + "." + encoded(16, 4)
}

// rsaBytes is the size of what is encrypted to the filter's RSA keys, as they are by default.
const rsaBytes = 3072 / 8
