package engine

import (
	"errors"
	"strconv"
	"strings"
)

// ResponseHandling is how a response is changed.
type ResponseHandling struct {
	Wrap bool       // its body, all of it, goes through Wrap
	Ops  []HeaderOp // else these are the changes to its header fields
}

// BeginResponse judges an answer by its head.
func (x *Exchange) BeginResponse(head ResponseHead) (ResponseHandling, *Problem) {
	x.answer = head
	plain := ResponseHandling{Ops: append(inside(head.Names), Del(FieldMLE))}
	if x.reply == nil {
		return plain, nil
	}
	if head.Status == 101 {
		return ResponseHandling{}, broken("upgrade", errors.New("mle: core changed the protocol"))
	}
	if bodiless(x.head.Method, head) {
		plain.Ops = append(plain.Ops, x.answerOps()...)
		if x.head.Method == "HEAD" || head.Status == 304 { // what it says of a length is the plaintext's
			plain.Ops = append(plain.Ops, Del(fieldSize))
		}
		return plain, nil
	}
	for _, value := range head.Fields.Values(fieldCode) {
		if !strings.EqualFold(value, "identity") {
			return ResponseHandling{}, broken("encoding", errors.New("mle: core packed an answer, which nobody asked it to"))
		}
	}
	if x.contentType() == "text/event-stream" {
		return ResponseHandling{}, broken("stream", errors.New("mle: core answered with a stream"))
	}
	if head.Length > int64(x.engine.settings.MaxResponse) {
		return ResponseHandling{}, x.responseTooLong()
	}
	return ResponseHandling{Wrap: true}, nil
}

// bodiless reports whether there is nothing to encrypt.
func bodiless(method string, head ResponseHead) bool {
	return method == "HEAD" || head.Status < 200 || head.Status == 204 || head.Status == 304 || !head.Body
}

// Wrap encrypts an answer's body. After a problem nothing of the answer may be sent.
func (x *Exchange) Wrap(received []byte) (*Body, *Problem) {
	if x.reply == nil {
		return nil, broken("key", errors.New("mle: nobody asked for this answer to be encrypted"))
	}
	if len(received) > x.engine.settings.MaxResponse {
		return nil, x.responseTooLong()
	}
	sealed, err := x.reply.Seal(received, x.contentType(), x.engine.clock.Now())
	if err != nil {
		return nil, broken("seal", err)
	}
	ops := append(inside(x.answer.Names), x.answerOps()...)
	ops = append(ops, Set(fieldType, typeJOSE), Set(fieldSize, strconv.Itoa(len(sealed))), Set(FieldMLE, version))
	return &Body{Bytes: sealed, Ops: ops}, nil
}

func (x *Exchange) responseTooLong() *Problem {
	return broken("response_size", errors.New("mle: core's answer is larger than max_response"))
}

// contentType is the media type of core's answer without its parameters, "" when it has none.
func (x *Exchange) contentType() string {
	values := x.answer.Fields.Values(fieldType)
	if len(values) == 0 {
		return ""
	}
	return mediaTypeOf(values[0])
}

// answerOps keep an answer that belongs to one key out of caches, and what tells of its plaintext out of it.
func (x *Exchange) answerOps() []HeaderOp {
	vary := append([]string{}, x.answer.Fields.Values(fieldVary)...)
	vary = append(vary, "X-SVC-MLE", "X-SVC-MLE-Response")
	return append(dels(ofPlaintext...), Set("cache-control", "no-store"), Set(fieldVary, strings.Join(vary, ", ")))
}
