package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
)

// Resources rejects resources that Envoy would reject, and references without a target. The error
// lists all faults. Some rules only Envoy itself can check.
func Resources(r build.Resources) error {
	var errs []error
	for _, m := range messages(r) {
		errs = append(errs, Message(m))
	}
	return errors.Join(append(errs, refs(r)...)...)
}

func messages(r build.Resources) []proto.Message {
	var out []proto.Message
	for _, m := range r.Listeners {
		out = append(out, m)
	}
	for _, m := range r.Routes {
		out = append(out, m)
	}
	for _, m := range r.Clusters {
		out = append(out, m)
	}
	for _, m := range r.Secrets {
		out = append(out, m)
	}
	return out
}

// Message validates a message and all messages in it: the generated validation stops at every Any.
func Message(m proto.Message) error {
	var errs []error
	if v, ok := m.(interface{ ValidateAll() error }); ok {
		if err := v.ValidateAll(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.ProtoReflect().Descriptor().FullName(), err))
		}
	}
	Walk(m, func(inner proto.Message) {
		if v, ok := inner.(interface{ ValidateAll() error }); ok {
			if err := v.ValidateAll(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", inner.ProtoReflect().Descriptor().FullName(), err))
			}
		}
	}, func(err error) { errs = append(errs, err) })
	return errors.Join(errs...)
}

// Walk calls visit for each message packed in an Any within m, at any depth. It calls fail for each
// Any that cannot be unpacked.
func Walk(m proto.Message, visit func(proto.Message), fail func(error)) {
	each(m.ProtoReflect(), func(a *anypb.Any) {
		inner, err := a.UnmarshalNew()
		if err != nil {
			fail(fmt.Errorf("%s: %w", a.GetTypeUrl(), err))
			return
		}
		visit(inner)
		Walk(inner, visit, fail)
	})
}

// each calls found for every Any in a message, without unpacking it.
func each(m protoreflect.Message, found func(*anypb.Any)) {
	if a, ok := m.Interface().(*anypb.Any); ok {
		found(a)
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			if f.MapValue().Message() == nil {
				return true
			}
			keys := []protoreflect.MapKey{}
			v.Map().Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool { keys = append(keys, k); return true })
			slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return strings.Compare(a.String(), b.String()) })
			for _, k := range keys {
				each(v.Map().Get(k).Message(), found)
			}
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				each(v.List().Get(i).Message(), found)
			}
		default:
			each(v.Message(), found)
		}
		return true
	})
}
