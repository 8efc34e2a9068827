package engine

import (
	"errors"
	"strconv"
	"strings"
)

// ResponseHandling is the decision on how to change a response.
type ResponseHandling struct {
	Wrap bool       // pass the whole body through Wrap
	Ops  []HeaderOp // otherwise, apply these changes to the header fields
}

var errNoResponseKey = errors.New("mle: no encrypted response was demanded, or the request was not decrypted")

// BeginResponse judges a response by its head.
func (x *Exchange) BeginResponse(head ResponseHead) (ResponseHandling, *Problem) {
	x.response = head
	plain := ResponseHandling{Ops: append(deleteInternal(head.Names), Del(FieldMLE))}
	if !x.demand.response {
		return plain, nil
	}
	if x.responseKey == nil {
		return ResponseHandling{}, broken("key", errNoResponseKey)
	}
	if head.Status == 101 {
		return ResponseHandling{}, broken("upgrade", errors.New("mle: core responded with 101 Switching Protocols"))
	}
	if bodiless(x.head.Method, head) {
		plain.Ops = append(plain.Ops, x.responseOps()...)
		if x.head.Method == "HEAD" || head.Status == 304 { // the length would be that of the plaintext
			plain.Ops = append(plain.Ops, Del(fieldSize))
		}
		return plain, nil
	}
	for _, value := range head.Fields.Values(fieldCoding) {
		if !strings.EqualFold(value, "identity") {
			return ResponseHandling{}, broken(
				"encoding", errors.New("mle: core compressed the response, although the request did not accept that"),
			)
		}
	}
	if x.responseType() == "text/event-stream" {
		return ResponseHandling{}, broken(
			"stream", errors.New("mle: core responded with an event stream, which cannot be encrypted"),
		)
	}
	if head.Length > int64(x.engine.settings.MaxResponse) {
		return ResponseHandling{}, x.responseTooLong()
	}
	return ResponseHandling{Wrap: true}, nil
}

// bodiless reports whether the response has no body to encrypt.
func bodiless(method string, head ResponseHead) bool {
	return method == "HEAD" || head.Status < 200 || head.Status == 204 || head.Status == 304 || !head.Body
}

// Wrap encrypts the body of a response. If it returns a problem, the shell must send no part of the
// response.
func (x *Exchange) Wrap(received []byte) (*Body, *Problem) {
	if x.responseKey == nil {
		return nil, broken("key", errNoResponseKey)
	}
	if len(received) > x.engine.settings.MaxResponse {
		return nil, x.responseTooLong()
	}
	encrypted, err := x.responseKey.Encrypt(received, x.responseType(), x.engine.clock.Now())
	if err != nil {
		return nil, broken("encrypt", err)
	}
	ops := append(deleteInternal(x.response.Names), x.responseOps()...)
	ops = append(ops, Set(fieldType, typeJOSE), Set(fieldSize, strconv.Itoa(len(encrypted))), Set(FieldMLE, version))
	return &Body{Bytes: encrypted, Ops: ops}, nil
}

func (x *Exchange) responseTooLong() *Problem {
	return broken("response_size", errors.New("mle: core's response is larger than max_response"))
}

// responseType returns the media type of core's response without parameters, or "" if there is
// none.
func (x *Exchange) responseType() string {
	values := x.response.Fields.Values(fieldType)
	if len(values) == 0 {
		return ""
	}
	return mediaTypeOf(values[0])
}

// responseOps keep the response out of caches, because it belongs to one key, and delete the fields
// that describe its plaintext.
func (x *Exchange) responseOps() []HeaderOp {
	vary := append([]string{}, x.response.Fields.Values(fieldVary)...)
	vary = append(vary, "X-SVC-MLE", "X-SVC-MLE-Response")
	return append(
		deleteAll(plaintextFields...), Set("cache-control", "no-store"), Set(fieldVary, strings.Join(vary, ", ")),
	)
}
