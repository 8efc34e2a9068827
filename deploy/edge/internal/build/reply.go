package build

import (
	"strconv"
	"strings"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	celv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/filters/cel/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// unavailable is the status of many of Envoy's own responses, whether or not the upstream got part
// of the request.
const unavailable = 503

// tooLarge is the status of a response to a body above max_body.
const tooLarge = 413

// headTooLong is the status of a response to more header fields than Envoy reads. Envoy does not
// read the path then, which can be one of web pages.
const headTooLong = 431

// reply is Envoy's own response for a status, with the body of v1's errors.
type reply struct {
	status     uint32
	kind, code string
	message    string
	retryAfter int // seconds; 0 for no such field
}

// replies is the table of Envoy's own responses. The codes and messages are the ones of core and
// mle-filter for the same errors.
var replies = []reply{
	{400, "invalid_request_error", "invalid_request", v1.MessageNotHTTP, 0},
	{404, "invalid_request_error", "route_not_found", v1.MessageNoRoute, 0},
	{
		408, "invalid_request_error", "body_not_received",
		"The request did not arrive completely in time. Send it again with the same Idempotency-Key.", 0,
	},
	{tooLarge, "invalid_request_error", "body_too_large", "", 0}, // with max_body in the message
	{417, "invalid_request_error", "invalid_request", v1.MessageExpect, 0},
	{421, "invalid_request_error", "misdirected_request", v1.MessageMisdirected, 0},
	{426, "invalid_request_error", "invalid_request", v1.MessageHTTPVersion, 0},
	{429, "rate_limit_error", "rate_limited", v1.MessageRateLimited, 1},
	{headTooLong, "invalid_request_error", "headers_too_large", v1.MessageHeadersTooLarge, 0},
	{500, "api_error", "internal_error", v1.MessageInternal, 0},
	{501, "invalid_request_error", "invalid_request", v1.MessageTransferEncoding, 0},
	lost,
	{unavailable, "api_error", "service_unavailable", v1.MessageUnreachable, 1},
	{504, "api_error", "response_timeout", v1.MessageResponseTimeout, 0},
}

// lost is the response to a request that the upstream may have carried out.
var lost = reply{502, "api_error", "response_lost", v1.MessageResponseLost, 0}

// unsentFlags are Envoy's response flags of a request of which the upstream got no part. No
// connection could be opened (UF, which includes failed TLS handshakes). No server was healthy
// (UH). Or too many requests were waiting (UO). A flag belongs to the last attempt, and only reads
// have a second one: see retries. All other flags may follow a request that was sent: UC, UR, LR,
// UPE and OM do.
var unsentFlags = []string{"UF", "UH", "UO"}

// notAttempted matches a request that Envoy ended before it chose a server to send it to:
// mle-filter failed or Envoy was overloaded.
const notAttempted = "upstream.request_attempt_count == 0"

// noEncryption is the response to a request for encryption on a route without it.
var noEncryption = reply{400, "mle_error", "mle_not_supported", v1.MessageNoMLE, 0}

// byRefusal is true for a response of a route that rejects.
const byRefusal = "xds.route_name.endsWith('" + refusedName + "')"

// fromFilter is true for a response that mle-filter made: only that has a request id.
const fromFilter = "'request-id' in response.headers"

// localReplies gives Envoy's own responses the body and the version of v1's errors, and on the
// paths of a dialect its form. The first mapper that matches applies. localReplies also sets HSTS
// again: in Envoy 1.40 the header filter sees all of them, in other versions it may not.
func (b *builder) localReplies(https bool) *hcmv3.LocalReplyConfig {
	fields := []*corev3.HeaderValueOption{
		overwrite("X-Content-Type-Options", "nosniff"),
		overwrite("Cache-Control", "no-store"),
	}
	if https {
		fields = append(fields, overwrite(tlspolicy.HSTSHeader, tlspolicy.HSTS), overwrite(v1.VersionField, v1.Version),
			overwrite(httpx.AllowOriginField, onPageRoutes(httpx.AllowOrigin)),
			overwrite(httpx.ExposeHeadersField, onPageRoutes(httpx.ExposeHeaders)))
	}
	out := &hcmv3.LocalReplyConfig{}
	if https && b.Config.ExtProc.Address != "" {
		out.Mappers = append(out.Mappers, &hcmv3.ResponseMapper{Filter: b.expression(fromFilter), HeadersToAdd: fields})
	}
	if https {
		out.Mappers = append(out.Mappers, &hcmv3.ResponseMapper{
			Filter: b.expression(byRefusal), BodyFormatOverride: b.errorBody(noEncryption), HeadersToAdd: withID(fields),
		})
		out.Mappers = append(out.Mappers, b.legacyReplies()...)
	}
	for _, r := range replies {
		out.Mappers = append(out.Mappers, b.mapper(r, https, fields))
	}
	out.Mappers = append(out.Mappers,
		&hcmv3.ResponseMapper{
			Filter:     is(unavailable),
			StatusCode: u32(lost.status), BodyFormatOverride: b.errorBody(lost), HeadersToAdd: withID(fields),
		},
		&hcmv3.ResponseMapper{
			Filter: atLeast(500), HeadersToAdd: withID(fields),
			BodyFormatOverride: b.errorBody(reply{0, "api_error", "internal_error", v1.MessageInternal, 0}),
		},
		&hcmv3.ResponseMapper{
			Filter: atLeast(400), HeadersToAdd: withID(fields),
			BodyFormatOverride: b.errorBody(reply{0, "invalid_request_error", "invalid_request", v1.MessageInvalidRequest, 0}),
		},
		&hcmv3.ResponseMapper{Filter: atLeast(0), HeadersToAdd: fields}, // a redirect
	)
	return out
}

// mapper returns the mapper of one reply. fields are the header fields of all replies.
func (b *builder) mapper(r reply, https bool, fields []*corev3.HeaderValueOption) *hcmv3.ResponseMapper {
	more := append([]*corev3.HeaderValueOption(nil), fields...)
	if https && r.status == headTooLong {
		more = append(more, overwrite(httpx.AllowOriginField, httpx.AllowOrigin),
			overwrite(httpx.ExposeHeadersField, httpx.ExposeHeaders))
	}
	if r.retryAfter > 0 {
		more = append(more, overwrite("Retry-After", seconds(r.retryAfter)))
	}
	if r.status == tooLarge {
		r.message = v1.MessageBodyTooLarge(strconv.Itoa(b.Config.Limits.MaxBody) + " bytes")
	}
	filter := is(r.status)
	if r.status == unavailable {
		filter = all(filter, b.unsent())
	}
	return &hcmv3.ResponseMapper{Filter: filter, BodyFormatOverride: b.errorBody(r), HeadersToAdd: withID(more)}
}

// onPageRoutes returns the format of a header field that only responses on the routes of web pages
// have. Envoy omits a field without a value.
func onPageRoutes(value string) string {
	var paths []string
	for _, r := range httpx.PageRoutes() {
		paths = append(paths, strings.ReplaceAll(r.Path, "{id}", "[^/]+"))
	}
	return "%CEL(request.url_path.matches('^(" + strings.Join(paths, "|") + ")$') ? '" + value + "' : '')%"
}

// replyID is the request id of Envoy's own responses, in the form of v1's ids: the minute, the
// second and the nanosecond of the start. Envoy rejects bytes that are not HTTP before it makes an
// X-Request-Id, and v1's errors always have an id.
const replyID = "req_%START_TIME(%M%S%9f)%"

// withID adds the id, which the access log has as well.
func withID(fields []*corev3.HeaderValueOption) []*corev3.HeaderValueOption {
	return append(append([]*corev3.HeaderValueOption(nil), fields...), overwrite("Request-Id", replyID))
}

// errorBody returns the body of v1's errors. The status 0 stands for the status of the response.
func (b *builder) errorBody(r reply) *corev3.SubstitutionFormatString {
	var status any = "%RESPONSE_CODE%"
	if r.status != 0 {
		status = r.status
	}
	return b.json(map[string]any{"error": map[string]any{
		"type": r.kind, "code": r.code, "message": r.message, "status": status, "request_id": replyID,
		"doc_url": v1.DocURL(r.code),
	}})
}

func statusIs(op accesslogv3.ComparisonFilter_Op, status uint32) *accesslogv3.AccessLogFilter {
	return &accesslogv3.AccessLogFilter{
		FilterSpecifier: &accesslogv3.AccessLogFilter_StatusCodeFilter{StatusCodeFilter: &accesslogv3.StatusCodeFilter{
			Comparison: &accesslogv3.ComparisonFilter{
				Op: op, Value: &corev3.RuntimeUInt32{DefaultValue: status, RuntimeKey: "edge.local_reply"},
			},
		}},
	}
}

// unsent matches requests of which the upstream certainly got no part.
func (b *builder) unsent() *accesslogv3.AccessLogFilter {
	flags := &accesslogv3.AccessLogFilter{FilterSpecifier: &accesslogv3.AccessLogFilter_ResponseFlagFilter{
		ResponseFlagFilter: &accesslogv3.ResponseFlagFilter{Flags: unsentFlags},
	}}
	return either(flags, b.expression(notAttempted))
}

func either(filters ...*accesslogv3.AccessLogFilter) *accesslogv3.AccessLogFilter {
	return &accesslogv3.AccessLogFilter{FilterSpecifier: &accesslogv3.AccessLogFilter_OrFilter{
		OrFilter: &accesslogv3.OrFilter{Filters: filters},
	}}
}

func is(status uint32) *accesslogv3.AccessLogFilter {
	return statusIs(accesslogv3.ComparisonFilter_EQ, status)
}

func atLeast(status uint32) *accesslogv3.AccessLogFilter {
	return statusIs(accesslogv3.ComparisonFilter_GE, status)
}

func all(filters ...*accesslogv3.AccessLogFilter) *accesslogv3.AccessLogFilter {
	return &accesslogv3.AccessLogFilter{FilterSpecifier: &accesslogv3.AccessLogFilter_AndFilter{
		AndFilter: &accesslogv3.AndFilter{Filters: filters},
	}}
}

func (b *builder) expression(text string) *accesslogv3.AccessLogFilter {
	return &accesslogv3.AccessLogFilter{
		FilterSpecifier: &accesslogv3.AccessLogFilter_ExtensionFilter{ExtensionFilter: &accesslogv3.ExtensionFilter{
			Name:       "cel",
			ConfigType: &accesslogv3.ExtensionFilter_TypedConfig{TypedConfig: b.pack(&celv3.ExpressionFilter{Expression: text})},
		}},
	}
}
