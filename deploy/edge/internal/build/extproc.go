package build

import (
	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
)

// metadataPolicy is the metadata key by which a route sets the encryption that mle-filter requires;
// see mle-filter/docs/envoy.md. A route without it requires encryption.
const metadataPolicy = "x-mle-policy"

// extProc configures the external processor as mle-filter/docs/envoy.md requires.
func (b *builder) extProc() *extprocv3.ExternalProcessor {
	return &extprocv3.ExternalProcessor{
		GrpcService: &corev3.GrpcService{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
			EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: ClusterExtProc},
		}},
		FailureModeAllow: false,
		ProcessingMode: &extprocv3.ProcessingMode{
			RequestHeaderMode:   extprocv3.ProcessingMode_SEND,
			RequestBodyMode:     extprocv3.ProcessingMode_BUFFERED,
			ResponseHeaderMode:  extprocv3.ProcessingMode_SEND,
			ResponseBodyMode:    extprocv3.ProcessingMode_BUFFERED,
			RequestTrailerMode:  extprocv3.ProcessingMode_SKIP,
			ResponseTrailerMode: extprocv3.ProcessingMode_SKIP,
		},
		// mle-filter judges the head of a request, and makes Envoy hold only the bodies that it decrypts
		// or encrypts.
		AllowModeOverride: true,
		// The filter reads these to distinguish Envoy's own responses from core's.
		ResponseAttributes: []string{"response.code_details"},
		MessageTimeout:     duration(b.Config.ExtProc.MessageTimeout),
		MutationRules: &mutationv3.HeaderMutationRules{
			DisallowSystem: yes(), DisallowIsError: yes(),
			DisallowExpression: &matcherv3.RegexMatcher{Regex: "^(x-forwarded-.*|authorization|cookie)$"},
		},
		RouteCacheAction: extprocv3.ExternalProcessor_RETAIN,
		StatusOnError:    &typev3.HttpStatus{Code: typev3.StatusCode_ServiceUnavailable},
		StatPrefix:       "mle",
		ForwardRules: &extprocv3.HeaderForwardingRules{
			AllowedHeaders: &matcherv3.ListStringMatcher{Patterns: forwarded()},
		},
	}
}

// forwarded returns the header fields that Envoy sends to the filter: only the ones that it reads.
func forwarded() []*matcherv3.StringMatcher {
	var out []*matcherv3.StringMatcher
	for _, name := range []string{
		":method", ":path", ":status", "authorization", "idempotency-key", "vary", "request-id", "traceparent", "tracestate",
	} {
		out = append(out, &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: name}})
	}
	for _, prefix := range []string{"content-", "x-svc-"} {
		out = append(out, &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: prefix}})
	}
	return out
}

// extProcOn enables the processor for every route that does not disable it. It sets no policy, so a
// route without one is strict. The listener disables the processor. Otherwise Envoy would show it
// the response to bytes that are not HTTP, and close the connection before the processor has
// finished. The client would get no response.
func (b *builder) extProcOn() map[string]*anypb.Any {
	if b.Config.ExtProc.Address == "" {
		return nil
	}
	return map[string]*anypb.Any{
		filterExtProc: b.pack(&extprocv3.ExtProcPerRoute{
			Override: &extprocv3.ExtProcPerRoute_Overrides{Overrides: &extprocv3.ExtProcOverrides{}},
		}),
	}
}

// level returns the metadata for the external processor.
func (b *builder) level(l config.Level) map[string]*anypb.Any {
	if b.Config.ExtProc.Address == "" {
		return nil
	}
	per := &extprocv3.ExtProcPerRoute{Override: &extprocv3.ExtProcPerRoute_Disabled{Disabled: true}}
	if l == "" {
		l = config.Optional
	}
	if l != config.Off {
		per.Override = &extprocv3.ExtProcPerRoute_Overrides{Overrides: &extprocv3.ExtProcOverrides{
			GrpcInitialMetadata: []*corev3.HeaderValue{{Key: metadataPolicy, Value: string(l)}},
		}}
	}
	return map[string]*anypb.Any{filterExtProc: b.pack(per)}
}
