package engine

import (
	"mime"
	"strings"
)

// ask holds the encryption that a request's header fields demand.
type ask struct {
	jose     bool // the body is a JWE
	response bool // the response must be a JWE
	kid      string
}

func (a ask) any() bool { return a.jose || a.response }

// present reports whether any field of the protocol was sent, or its media type.
func present(f Fields) bool {
	return isJOSE(f) || len(f.Values(FieldMLE)) > 0 || len(f.Values(FieldResponse)) > 0 ||
		len(f.Values(FieldResponseKID)) > 0
}

// readAsk reads the fields of the protocol. It rejects values that it does not recognize, so that
// such a request never passes as one in the clear.
func readAsk(head RequestHead) (a ask, p *Problem) {
	a.jose = isJOSE(head.Fields)
	versions := head.Fields.Values(FieldMLE)
	switch {
	case len(versions) > 1 || len(versions) == 1 && versions[0] != version:
		return a, mediaType("X-SVC-MLE", "Send X-SVC-MLE: v1 exactly once.")
	case a.jose && len(versions) == 0:
		return a, mediaType("X-SVC-MLE", "With a body of application/jose, send X-SVC-MLE: v1.")
	case a.jose && len(head.Fields.Values(fieldType)) > 1:
		return a, mediaType("Content-Type", "Send one Content-Type.")
	case a.jose && len(head.Fields.Values(fieldCode)) > 0:
		return a, mediaType("Content-Encoding", "Send a body of application/jose without Content-Encoding.")
	case a.jose && !wellFormed(head.Fields.Values(fieldType)[0]):
		return a, mediaType(
			"Content-Type", "The parameters of Content-Type are invalid. Omit them: application/jose has none.",
		)
	case !a.jose && len(versions) > 0 && head.Body:
		return a, mediaType("Content-Type", "With X-SVC-MLE: v1 the body must be application/jose.")
	}
	responses, kids := head.Fields.Values(FieldResponse), head.Fields.Values(FieldResponseKID)
	if !a.jose && len(versions) > 0 && len(responses) == 0 {
		return a, mediaType(
			"Content-Type",
			"With X-SVC-MLE: v1 and no body, send X-SVC-MLE-Response: required. Otherwise there is nothing to encrypt.",
		)
	}
	if len(responses) > 1 || len(responses) == 1 && responses[0] != required {
		return a, invalid("X-SVC-MLE-Response", "Send X-SVC-MLE-Response: required exactly once, or omit it.")
	}
	if a.response = len(responses) == 1; len(kids) > 1 || len(kids) == 1 && !a.response {
		return a, invalid(
			"X-SVC-MLE-Response-Kid", "Send X-SVC-MLE-Response-Kid once, and only with X-SVC-MLE-Response: required.",
		)
	}
	if len(kids) == 1 {
		if a.kid = kids[0]; a.kid == "" {
			return a, invalid("X-SVC-MLE-Response-Kid", "X-SVC-MLE-Response-Kid is empty. Omit it to use the newest key.")
		}
	}
	return a, nil
}

// isJOSE reports whether any Content-Type is application/jose. Parameters are ignored.
func isJOSE(f Fields) bool {
	for _, value := range f.Values(fieldType) {
		if mediaTypeOf(value) == typeJOSE {
			return true
		}
	}
	return false
}

// wellFormed reports whether the parameters of a media type can be parsed.
func wellFormed(value string) bool {
	_, _, err := mime.ParseMediaType(value)
	return err == nil
}

func mediaTypeOf(value string) string {
	name, _, _ := strings.Cut(value, ";")
	return strings.ToLower(strings.TrimSpace(name))
}

func mediaType(param, message string) *Problem {
	return problem(CodeMediaType, "media_type", message).at(param)
}

func invalid(param, message string) *Problem {
	return problem(CodeInvalidValue, "field", message).at(param)
}
