package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
	"github.com/causeway-pay/causeway/shared/idempotency"
	"github.com/causeway-pay/causeway/shared/turns"
)

// Unwrap decrypts the whole body of the request. It runs the cheap checks first, because garbage
// costs its sender nothing, and the private operation is the most expensive work of the filter.
func (x *Exchange) Unwrap(ctx context.Context, sent []byte) (*Body, *Problem) {
	e := x.engine
	if len(sent) > e.settings.MaxBody {
		return nil, TooLarge(int64(e.settings.MaxBody))
	}
	message, err := jwe.Parse(sent, jwe.Limits{Header: e.settings.MaxHeader, Plaintext: e.settings.MaxPlaintext})
	if err != nil {
		return nil, x.refused(err)
	}
	if p := x.judge(&message.Header); p != nil {
		return nil, p
	}
	if p := x.bind(ctx, message); p != nil {
		return nil, p
	}
	slots := e.slots[message.Header.Alg] // bind rejects every other alg
	turn, err := slots.Take(ctx, turns.Work[client]{Caller: x.client()})
	switch {
	case errors.Is(err, errOwn):
		return nil, behindItself()
	case err != nil:
		return nil, unavailable(ReasonBusy, retryBusy, nil)
	}
	plaintext, err := x.decrypt(message)
	turn.Done()
	if err != nil {
		return nil, x.refused(err)
	}
	x.kid, x.alg = message.Header.KID, message.Header.Alg
	return &Body{Bytes: plaintext, Ops: x.unwrapOps(len(plaintext))}, nil
}

// decrypt decrypts the message. If the client demanded an encrypted response and no registered key
// encrypts it, decrypt also derives the response key.
func (x *Exchange) decrypt(message *jwe.Message) ([]byte, error) {
	if !x.demand.response || x.responseKey != nil {
		return message.Decrypt()
	}
	plaintext, key, err := message.DecryptDerive()
	if err != nil {
		return nil, err
	}
	x.responseKey = key
	return plaintext, nil
}

// retryBusy is the Retry-After in seconds if no decryption slot became free.
const retryBusy = 1

// judge checks the rules of the protocol on the protected header, in addition to the rules of JWE.
func (x *Exchange) judge(h *jwe.Header) *Problem {
	if h.KID == "" {
		return failed(jwe.ReasonKID, "The protected header has no kid.")
	}
	if p := x.judgeTime(h.IssuedAt); p != nil {
		return p
	}
	if h.Method != "" && h.Method != x.head.Method {
		return failed("htm", "The protected header's htm is not the method of the request.")
	}
	if h.Path != "" && h.Path != x.head.Path {
		return failed("htu", "The protected header's htu is not the path of the request."+
			" It holds the path alone, without scheme, host and query.")
	}
	if p := x.judgeContentType(h.ContentType); p != nil {
		return p
	}
	if p := x.judgeResponse(h.ResponseTo); p != nil {
		return p
	}
	return x.judgeIdempotency(h)
}

// judgeResponse rejects a request if an intermediary removed or changed the client's demand for an
// encrypted response, which rsp repeats.
func (x *Exchange) judgeResponse(to string) *Problem {
	switch {
	case to == "":
	case !x.demand.response:
		return failed("rsp", "The protected header has rsp, and the request does not demand an encrypted response."+
			" Send X-SVC-MLE-Response: required.").at("X-SVC-MLE-Response")
	case to != jwe.RequiredResponse && to != x.responseKID:
		return failed("rsp", "The protected header's rsp is not the key that the response would be encrypted to."+
			" It holds \"required\" or that key's id.").at("X-SVC-MLE-Response-Kid")
	}
	return nil
}

// judgeIdempotency rejects a recorded body that is sent again under another Idempotency-Key.
// Without a time the body could be sent again once core has forgotten the key, so idk requires iat.
func (x *Exchange) judgeIdempotency(h *jwe.Header) *Problem {
	if h.IdempotencyKey == "" {
		return nil
	}
	sent, bound := x.head.Fields.Values(FieldIdempotency), idempotency.Normalize(h.IdempotencyKey)
	if len(sent) != 1 || idempotency.Normalize(sent[0]) != bound {
		return failed("idk", "The protected header's idk is not the Idempotency-Key of the request.").
			at("Idempotency-Key")
	}
	if h.IssuedAt == nil {
		return failed("iat", "The protected header has idk and no iat, the time in seconds. The two go together.")
	}
	return nil
}

func (x *Exchange) judgeTime(iat *int64) *Problem {
	settings := x.engine.settings
	if iat == nil {
		if settings.RequireIAT {
			return failed("iat", "The protected header has no iat. Add it: the current time in seconds.")
		}
		return nil
	}
	off := x.engine.clock.Now().Sub(time.Unix(*iat, 0)) // it saturates
	if off > settings.MaxAge || off < -settings.MaxAge {
		return failed("iat", "The protected header's iat, in seconds, is too far from now.")
	}
	return nil
}

// bind finds the key that the message names.
func (x *Exchange) bind(ctx context.Context, message *jwe.Message) *Problem {
	private, alg, err := x.engine.keys.Private(ctx, x.merchant, message.Header.KID)
	switch {
	case errors.Is(err, ErrNoKey):
		return problem(
			CodeKIDUnknown, "kid", "The key in kid is unknown or has ended. Fetch the current one: GET /v1/mle/keys/current.",
		)
	case err != nil:
		return unavailable("keys", retryKeys, err)
	}
	err = message.Bind(private, alg)
	var refusal *jwe.Error
	switch {
	case errors.As(err, &refusal):
		return x.refused(err)
	case err != nil:
		return unavailable("keys", retryKeys, err)
	}
	return nil
}

// refused returns the problem for a message that package jwe rejects.
func (x *Exchange) refused(err error) *Problem {
	refusal := &jwe.Error{Reason: jwe.ReasonDecrypt}
	errors.As(err, &refusal)
	if refusal.Reason == jwe.ReasonSize {
		return problem(CodeTooLarge, "size",
			fmt.Sprintf("The decrypted body is larger than %d bytes. Send a smaller one.", x.engine.settings.MaxPlaintext))
	}
	return failed(refusal.Reason, refusal.Hint)
}

// unwrapDeletions are the changes to every request whose body is decrypted.
var unwrapDeletions = slices.Concat(
	deleteAll(FieldMLE, FieldResponse, FieldResponseKID), deleteAll(ciphertextFields...), deleteAll(withheldFields...),
)

// unwrapOps returns the changes to a request whose body is decrypted.
func (x *Exchange) unwrapOps(length int) []HeaderOp {
	ops := x.appendHopOps(append(deleteInternal(x.head.Names), unwrapDeletions...))
	return append(
		ops, Set(fieldType, x.contentType), Set(fieldSize, strconv.Itoa(length)), Set(FieldInternal, x.internal()),
	)
}
