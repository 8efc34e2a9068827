package build

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/causeway-pay/causeway/shared/dropin"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// legacyReplies gives Envoy's own responses on the paths of a dialect the form that compat-proxy
// gives them. Legacy clients cannot read v1's errors. A response that may follow an effect is never
// one that a client takes for a refusal.
func (b *builder) legacyReplies() []*hcmv3.ResponseMapper {
	if !slices.ContainsFunc(b.Config.Routes, isLegacy) {
		return nil
	}
	onA := below(mount+"/provider-a", dropin.PathA)
	onB := []*accesslogv3.AccessLogFilter{below(mount + "/provider-b")}
	for families := range slices.Chunk(dropin.FamiliesB(), expressionPaths) {
		for i := range families {
			families[i] = "/" + families[i]
		}
		onB = append(onB, below(families...))
	}
	inJSON := header(&routev3.HeaderMatcher{
		Name: "content-type", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_Contains{Contains: "json"}, IgnoreCase: true,
		}},
	})
	return slices.Concat(b.repliesA(all(onA, inJSON), jsonA), b.repliesA(onA, xmlA), b.repliesB(either(onB...)))
}

// expressionPaths is the number of paths in a regular expression. Envoy bounds the size of each.
const expressionPaths = 8

// below matches requests for paths and for all paths below them.
func below(paths ...string) *accesslogv3.AccessLogFilter {
	var quoted []string
	for _, path := range paths {
		quoted = append(quoted, regexp.QuoteMeta(path))
	}
	return header(matches(":path", "("+strings.Join(quoted, "|")+")([/?].*)?"))
}

// formatA is a format of provider-a's documents: one with a fault.
type formatA struct {
	contentType string
	document    string // a format of its code and text
	malformed   fault  // its fault for a body that cannot be read
}

// fault is provider-a's error before a method.
type fault struct{ code, text string }

// The faults of compat-proxy.
var (
	faultProcessing = fault{"E00001", "An error occurred during processing. Please try again."}
	faultMalformed  = fault{"E00003", "An error occurred while parsing the XML request."}
	faultBusy       = fault{"E00053", "Server too busy"}
)

// The formats. Both begin with a byte order mark, without which some clients fail.
var (
	jsonA = formatA{
		"application/json; charset=utf-8",
		"\ufeff" + `{"messages":{"resultCode":"Error","message":[{"code":"%s","text":"%s"}]}}`, faultProcessing,
	}
	xmlA = formatA{
		"application/xml; charset=utf-8",
		"\ufeff" + `<?xml version="1.0" encoding="utf-8"?>` +
			`<ErrorResponse xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` +
			`xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd">` +
			`<messages><resultCode>Error</resultCode><message><code>%s</code><text>%s</text></message></messages>` +
			`</ErrorResponse>`, faultMalformed,
	}
)

// repliesA returns provider-a's responses in a format, for requests that on matches. The original
// API has the status 200 for every outcome, and its Node client never calls back for another one.
// A request that may have had an effect gets E00001, without a response code. So no client takes it
// for a decline, and the repeated request is found in its duplicate window.
func (b *builder) repliesA(on *accesslogv3.AccessLogFilter, format formatA) []*hcmv3.ResponseMapper {
	reply := func(f fault, status uint32, when ...*accesslogv3.AccessLogFilter) *hcmv3.ResponseMapper {
		out := &hcmv3.ResponseMapper{
			Filter: all(append([]*accesslogv3.AccessLogFilter{on}, when...)...),
			BodyFormatOverride: &corev3.SubstitutionFormatString{
				ContentType: format.contentType,
				Format: &corev3.SubstitutionFormatString_TextFormatSource{TextFormatSource: &corev3.DataSource{
					Specifier: &corev3.DataSource_InlineString{InlineString: fmt.Sprintf(format.document, f.code, f.text)},
				}},
			},
			HeadersToAdd: legacyFields(overwrite(httpx.AllowOriginField, "*")),
		}
		if status != 0 {
			out.StatusCode = u32(status)
		}
		return out
	}
	return []*hcmv3.ResponseMapper{
		reply(faultProcessing, 0, is(408)),
		reply(format.malformed, 200, is(tooLarge)),
		reply(faultBusy, 200, is(429)),
		reply(faultBusy, 200, is(unavailable), b.unsent()),
		reply(faultProcessing, 200, atLeast(400)),
	}
}

// repliesB returns provider-b's responses, for requests that on matches.
func (b *builder) repliesB(on *accesslogv3.AccessLogFilter) []*hcmv3.ResponseMapper {
	reply := func(status uint32, body map[string]any, when ...*accesslogv3.AccessLogFilter) *hcmv3.ResponseMapper {
		format := b.json(body)
		format.ContentType = "application/hal+json;charset=utf-8"
		out := &hcmv3.ResponseMapper{
			Filter:             all(append([]*accesslogv3.AccessLogFilter{on}, when...)...),
			BodyFormatOverride: format,
			HeadersToAdd:       legacyFields(overwrite("V-C-Correlation-Id", "%REQ(V-C-CORRELATION-ID?X-REQUEST-ID):128%")),
		}
		if status != 0 {
			out.StatusCode = u32(status)
		}
		if status == unavailable {
			out.HeadersToAdd = append(out.HeadersToAdd, overwrite("Retry-After", "1"))
		}
		return out
	}
	message := func(text string) map[string]any { return map[string]any{"message": text} }
	busy := bodyB("SERVER_ERROR", "SYSTEM_ERROR", "Error - Too busy. Nothing was executed.")
	return []*hcmv3.ResponseMapper{
		reply(0, bodyB("INVALID_REQUEST", "INVALID_DATA", v1.MessageNotHTTP), is(400)),
		reply(0, message("The requested resource does not exist"), is(404)),
		reply(0, message(v1.MessageBodyTooSlow), is(408)),
		reply(0, message(v1.MessageBodyTooLarge(strconv.Itoa(b.Config.Limits.MaxBody)+" bytes")), is(tooLarge)),
		reply(0, message(v1.MessageExpect), is(417)),
		reply(unavailable, busy, is(429)),
		reply(unavailable, busy, is(unavailable), b.unsent()),
		reply(lost.status, bodyB("SERVER_ERROR", "SERVER_TIMEOUT", "Error - Upstream timeout"), atLeast(500)),
		reply(0, message(v1.MessageInvalidRequest), atLeast(400)),
	}
}

// bodyB returns provider-b's body of an error.
func bodyB(status, reason, message string) map[string]any {
	return map[string]any{
		"submitTimeUtc": "%START_TIME(%Y-%m-%dT%H:%M:%SZ)%", "status": status, "reason": reason, "message": message,
	}
}

// legacyFields returns the header fields of a response in a dialect.
func legacyFields(more *corev3.HeaderValueOption) []*corev3.HeaderValueOption {
	return withID([]*corev3.HeaderValueOption{
		overwrite("X-Content-Type-Options", "nosniff"), overwrite("Cache-Control", "no-cache, no-store"),
		overwrite(tlspolicy.HSTSHeader, tlspolicy.HSTS), more,
	})
}

// header matches requests by a header field.
func header(m *routev3.HeaderMatcher) *accesslogv3.AccessLogFilter {
	return &accesslogv3.AccessLogFilter{FilterSpecifier: &accesslogv3.AccessLogFilter_HeaderFilter{
		HeaderFilter: &accesslogv3.HeaderFilter{Header: m},
	}}
}
