package mle

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/clock"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Errors of the transport. After ErrResponse the request may have been carried out: send it again
// with the same Idempotency-Key.
var (
	ErrKey      = errors.New("mle: the key of the service cannot be read, or is not a key for encryption")
	ErrResponse = errors.New("mle: the response was not encrypted to this client, although it was requested")
)

// The algorithms there are.
const (
	ECDHESA256KW = string(jose.ECDH_ES_A256KW) // the default: far cheaper for the service
	RSAOAEP256   = string(jose.RSA_OAEP_256)
)

const (
	mediaType         = "application/jose"
	idempotencyHeader = "Idempotency-Key"
	maxResponse       = 4 << 20
)

// Config holds the settings of the encryption. The zero Config encrypts requests, and takes
// responses in the clear.
type Config struct {
	// Private is the merchant's key for responses, whose public half is registered, with KeyID and
	// Algorithm. Nil for none.
	Private *jose.JSONWebKey
	// EncryptedResponses demands encrypted responses without a registered key. Each is encrypted under
	// a key that is derived from the body of its request, so requests without a body get responses in
	// the clear. A secret key cannot use it if its merchant has registered a response key.
	EncryptedResponses bool
	// Alg is the algorithm of requests. Empty means ECDHESA256KW.
	Alg string
	// Pins are the key ids that requests may be encrypted to. None means whichever the service names.
	Pins []string
	// Next carries the requests. Nil means http.DefaultTransport.
	Next http.RoundTripper
	// Clock returns the time. Nil means the machine's.
	Clock clock.Clock
}

// Transport is an http.RoundTripper that encrypts, for one merchant. It is safe for concurrent use.
type Transport struct {
	cfg Config

	mu   sync.Mutex
	keys map[string]*held // guarded by mu; by the Authorization that they were fetched with
}

// Option makes a v1 client encrypt.
func Option(cfg Config) v1.ClientOption {
	return v1.WithHTTPClient(&http.Client{Transport: New(cfg)})
}

// New returns a transport that has no key yet.
func New(cfg Config) *Transport {
	cfg.Alg = cmp.Or(cfg.Alg, ECDHESA256KW)
	if cfg.Next == nil {
		cfg.Next = http.DefaultTransport
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	return &Transport{cfg: cfg, keys: map[string]*held{}}
}

// RoundTrip implements http.RoundTripper. If the service has discarded the key of the request,
// nothing was executed. The transport then fetches the current key and sends the request once more.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if body == nil && t.cfg.Private == nil {
		return t.cfg.Next.RoundTrip(r)
	}
	keyed := r
	if body != nil {
		keyed = withIdempotencyKey(r)
	}
	made := keyed != r
	r = keyed
	var used *held
	for again := false; ; again = true {
		sealed, message, key, err := t.prepare(r, body, used)
		if err != nil {
			return nil, err
		}
		if made {
			// Without GetBody, http.Transport does not repeat the request once it was sent. An
			// error of the repetition, such as a refused connection, would look as if nothing had
			// been sent. The caller would then send the request anew under another key.
			sealed.GetBody = nil
		}
		response, err := t.cfg.Next.RoundTrip(sealed)
		if err != nil {
			return nil, err
		}
		if response, err = t.open(r, message, response); err != nil {
			return nil, err
		}
		if again || key == nil || !unknownKey(response) {
			return response, nil
		}
		_ = response.Body.Close() // it is in memory
		used = key
	}
}

// withIdempotencyKey returns the request, or a copy with a random Idempotency-Key if it can carry
// one and has none. A body that is bound to no key could be recorded and executed again under any
// other.
func withIdempotencyKey(r *http.Request) *http.Request {
	takesKey := r.Method == http.MethodPost || r.Method == http.MethodPatch
	if !takesKey || len(r.Header.Values(idempotencyHeader)) > 0 {
		return r
	}
	out := r.Clone(r.Context()) // a transport must not change the request
	out.Header.Set(idempotencyHeader, rand.Text())
	return out
}

// readBody reads a request's body, nil for none.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, fmt.Errorf("mle: request body: %w", err)
	}
	if len(body) == 0 {
		return nil, nil
	}
	return body, nil
}

// prepare makes the request that is sent. If it has a body, prepare also returns the encrypted body
// and its key, which is not the stale one.
func (t *Transport) prepare(r *http.Request, body []byte, stale *held) (*http.Request, *message, *held, error) {
	out := r.Clone(r.Context()) // a transport must not change the request
	if t.demands() {
		out.Header.Set("X-SVC-MLE-Response", "required")
	}
	if t.cfg.Private != nil {
		out.Header.Set("X-SVC-MLE-Response-Kid", t.cfg.Private.KeyID)
	}
	out.Header.Set("X-SVC-MLE", "v1")
	if body == nil {
		out.Body = nil
		return out, nil, nil, nil
	}
	key, err := t.key(r, stale)
	if err != nil {
		return nil, nil, nil, err
	}
	sealed, err := seal(body, key.jwk, t.binding(r))
	if err != nil {
		return nil, nil, nil, err
	}
	out.Header.Set("Content-Type", mediaType)
	out.ContentLength = int64(len(sealed.token))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(sealed.token)), nil }
	out.Body, _ = out.GetBody()
	return out, sealed, key, nil
}

// demands reports whether the transport demands encrypted responses to the requests that it
// changes.
func (t *Transport) demands() bool { return t.cfg.Private != nil || t.cfg.EncryptedResponses }

// binding returns the members of a protected header that bind a body to its request. They are the
// time (iat), the method (htm), the path (htu), the demand for an encrypted response (rsp) and the
// Idempotency-Key (idk). A change of any of them on the way is then rejected.
func (t *Transport) binding(r *http.Request) map[string]any {
	header := map[string]any{
		"typ": "JOSE", "cty": "application/json", "iat": t.cfg.Clock.Now().Unix(),
		"htm": cmp.Or(r.Method, http.MethodGet), "htu": r.URL.EscapedPath(),
	}
	switch {
	case t.cfg.Private != nil:
		header["rsp"] = t.cfg.Private.KeyID
	case t.cfg.EncryptedResponses:
		header["rsp"] = "required"
	}
	if key := r.Header.Get(idempotencyHeader); key != "" {
		header["idk"] = key
	}
	return header
}

// open reads a response whole and decrypts it, if the request demanded encryption.
func (t *Transport) open(r *http.Request, sent *message, response *http.Response) (*http.Response, error) {
	if !t.demands() && response.StatusCode < http.StatusBadRequest {
		return response, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("mle: response: %w", err)
	}
	if len(body) > maxResponse {
		return nil, fmt.Errorf("%w: it is too long", ErrResponse)
	}
	if t.demands() {
		if body, err = t.decrypt(r, sent, response, body); err != nil {
			return nil, err
		}
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}

// decrypt returns the content of a response. Only responses without a body come in the clear, and
// errors of a service that could not encrypt them. Those errors hold nothing of a payment.
func (t *Transport) decrypt(r *http.Request, sent *message, response *http.Response, body []byte) ([]byte, error) {
	if len(body) == 0 && (r.Method == http.MethodHead || response.StatusCode == http.StatusNoContent ||
		response.StatusCode == http.StatusNotModified) {
		return body, nil
	}
	if response.Header.Get("Content-Type") != mediaType {
		var refusal v1.ErrorBody
		if err := json.Unmarshal(body, &refusal); err == nil && response.StatusCode >= http.StatusBadRequest &&
			refusal.Error.Code != "" && refusal.Error.Transaction == nil {
			return body, nil
		}
		return nil, fmt.Errorf("%w: HTTP %d in the clear", ErrResponse, response.StatusCode)
	}
	to := t.receiver(sent)
	object, err := jose.ParseEncryptedCompact(string(body), []jose.KeyAlgorithm{to.alg},
		[]jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		return nil, fmt.Errorf("%w: it is not a JWE of the expected algorithm", ErrResponse)
	}
	if object.Header.KeyID != to.kid { // our own request, sent back, is encrypted to another key
		return nil, fmt.Errorf("%w: it is encrypted to another key", ErrResponse)
	}
	plaintext, err := to.open(object)
	if err != nil {
		return nil, fmt.Errorf("%w: it cannot be decrypted", ErrResponse)
	}
	kind, _ := object.Header.ExtraHeaders[jose.HeaderContentType].(string)
	response.Header.Set("Content-Type", cmp.Or(kind, "application/json"))
	response.Header.Set("Content-Length", strconv.Itoa(len(plaintext)))
	response.Header.Del("X-SVC-MLE")
	return plaintext, nil
}

// receiver is the only receiver to which a response may be encrypted.
type receiver struct {
	alg  jose.KeyAlgorithm
	kid  string
	open func(*jose.JSONWebEncryption) ([]byte, error)
}

// receiver returns the receiver of the response to an encrypted body, which may be nil with a
// registered key.
func (t *Transport) receiver(sent *message) receiver {
	own := t.cfg.Private
	if own == nil {
		return receiver{jose.DIRECT, sent.kid, sent.open}
	}
	open := func(object *jose.JSONWebEncryption) ([]byte, error) { return object.Decrypt(own.Key) }
	return receiver{jose.KeyAlgorithm(own.Algorithm), own.KeyID, open}
}

// unknownKey reports whether a response, which is in memory, rejects the request's key as unknown.
// It leaves the body to be read.
func unknownKey(response *http.Response) bool {
	if response.StatusCode != http.StatusBadRequest {
		return false
	}
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	var refusal v1.ErrorBody
	return err == nil && json.Unmarshal(body, &refusal) == nil && refusal.Error.Code == "mle_kid_unknown" &&
		refusal.Error.Param == nil
}

// held is a key that was fetched.
type held struct {
	jwk   jose.JSONWebKey
	until int64 // Unix seconds; it is fetched again from then on
}

// keyAge is for how many seconds a key is used before it is fetched again.
const keyAge = 3600

// key returns the key to encrypt to: the one at hand, unless it is too old or the stale one.
func (t *Transport) key(r *http.Request, stale *held) (*held, error) {
	name := r.Header.Get("Authorization")
	t.mu.Lock()
	key := t.keys[name]
	t.mu.Unlock()
	if key != nil && key != stale && t.cfg.Clock.Now().Unix() < key.until {
		return key, nil
	}
	jwk, err := t.fetch(r.Context(), r)
	if err != nil {
		return nil, err
	}
	key = &held{jwk, t.cfg.Clock.Now().Unix() + keyAge}
	t.mu.Lock()
	t.keys[name] = key
	t.mu.Unlock()
	return key, nil
}

// fetch requests the current key.
func (t *Transport) fetch(ctx context.Context, of *http.Request) (jose.JSONWebKey, error) {
	at := *of.URL
	at.Path, at.RawPath, at.RawQuery = "/v1/mle/keys/current", "", ""
	query := at.Query()
	query.Set("alg", t.cfg.Alg)
	at.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody) //nolint:gosec // as the request
	if err != nil {
		return jose.JSONWebKey{}, fmt.Errorf("mle: %w", err)
	}
	r.Header["Authorization"] = of.Header["Authorization"]
	response, err := t.cfg.Next.RoundTrip(r)
	if err != nil {
		return jose.JSONWebKey{}, fmt.Errorf("%w: %w", ErrKey, err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != http.StatusOK {
		return jose.JSONWebKey{}, fmt.Errorf("%w: HTTP %d", ErrKey, response.StatusCode)
	}
	var current struct {
		JWK jose.JSONWebKey `json:"jwk"`
	}
	if err := json.Unmarshal(body, &current); err != nil {
		return jose.JSONWebKey{}, fmt.Errorf("%w: not a JWK", ErrKey)
	}
	return current.JWK, t.check(current.JWK)
}

// check takes a key whose id is its thumbprint, and is pinned where ids are.
func (t *Transport) check(key jose.JSONWebKey) error {
	print, err := key.Thumbprint(crypto.SHA256)
	if err != nil || !key.IsPublic() || key.Algorithm != t.cfg.Alg ||
		base64.RawURLEncoding.EncodeToString(print) != key.KeyID {
		return fmt.Errorf("%w: its kid or alg does not match its JWK", ErrKey)
	}
	if len(t.cfg.Pins) > 0 && !slices.Contains(t.cfg.Pins, key.KeyID) {
		return fmt.Errorf("%w: %s is not pinned", ErrKey, key.KeyID)
	}
	return nil
}
