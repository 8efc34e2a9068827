package engine

import (
	"mime"
	"strings"
)

// demand is the encryption that the header fields of a request demand.
type demand struct {
	jose     bool   // the body is a JWE
	response bool   // the response must be a JWE
	kid      string // id of the response key; "" for the default
}

func (d demand) any() bool { return d.jose || d.response }

// hasMLEFields reports whether any field of the protocol was sent, or its media type.
func hasMLEFields(f Fields) bool {
	return isJOSE(f) || len(f.Values(FieldMLE)) > 0 || len(f.Values(FieldResponse)) > 0 ||
		len(f.Values(FieldResponseKID)) > 0
}

// readDemand reads the protocol's header fields. It rejects unknown values. Otherwise such a
// request could pass as one without encryption.
func readDemand(head RequestHead) (d demand, p *Problem) {
	d.jose = isJOSE(head.Fields)
	versions := head.Fields.Values(FieldMLE)
	switch {
	case len(versions) > 1 || len(versions) == 1 && versions[0] != version:
		return d, mediaType("X-SVC-MLE", "Send X-SVC-MLE: v1 exactly once.")
	case d.jose && len(versions) == 0:
		return d, mediaType("X-SVC-MLE", "With a body of application/jose, send X-SVC-MLE: v1.")
	case d.jose && len(head.Fields.Values(fieldType)) > 1:
		return d, mediaType("Content-Type", "Send one Content-Type.")
	case d.jose && len(head.Fields.Values(fieldCoding)) > 0:
		return d, mediaType("Content-Encoding", "Send a body of application/jose without Content-Encoding.")
	case d.jose && !wellFormed(head.Fields.Values(fieldType)[0]):
		return d, mediaType(
			"Content-Type", "The parameters of Content-Type are invalid. Omit them: application/jose has none.",
		)
	case !d.jose && len(versions) > 0 && head.Body:
		return d, mediaType("Content-Type", "With X-SVC-MLE: v1 the body must be application/jose.")
	}
	responses, kids := head.Fields.Values(FieldResponse), head.Fields.Values(FieldResponseKID)
	if !d.jose && len(versions) > 0 && len(responses) == 0 {
		return d, mediaType(
			"Content-Type",
			"With X-SVC-MLE: v1 and no body, send X-SVC-MLE-Response: required. Otherwise omit X-SVC-MLE.",
		)
	}
	if len(responses) > 1 || len(responses) == 1 && responses[0] != required {
		return d, invalid("X-SVC-MLE-Response", "Send X-SVC-MLE-Response: required exactly once, or omit it.")
	}
	if d.response = len(responses) == 1; len(kids) > 1 || len(kids) == 1 && !d.response {
		return d, invalid(
			"X-SVC-MLE-Response-Kid", "Send X-SVC-MLE-Response-Kid once, and only with X-SVC-MLE-Response: required.",
		)
	}
	if len(kids) == 1 {
		if d.kid = kids[0]; d.kid == "" {
			return d, invalid("X-SVC-MLE-Response-Kid", "X-SVC-MLE-Response-Kid is empty. Omit it to use the newest key.")
		}
	}
	return d, nil
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
