package enginetest

import (
	"maps"
	"slices"
	"testing"
)

// The rows of the abuse list about members that bind a message to the header fields of its request.
const (
	RowResponse    = 31 // an intermediary changes or removes the demand for an encrypted response
	RowIdempotency = 32 // an intermediary sends a recorded body under another Idempotency-Key
)

// bindingCases are rows 31 and 32.
func bindingCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	return slices.Concat(responseBindingCases(tb, w), idempotencyBindingCases(tb, w))
}

// bound returns a request whose protected header has these members.
func bound(tb testing.TB, w *World, members map[string]any, fields ...Field) Request {
	tb.Helper()
	header := map[string]any{"iat": Noon.Unix()}
	maps.Copy(header, members)
	return sent(Forge{Key: w.EC, Header: header}.Encrypt(tb, plaintext), fields...)
}

func responseBindingCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	required := Field{"X-SVC-MLE-Response", "required"}
	kid := func(k Key) Field { return Field{"X-SVC-MLE-Response-Kid", k.KID} }
	refused := func(name string, rsp any, fields ...Field) Case {
		r := bound(tb, w, map[string]any{"rsp": rsp}, fields...)
		return Case{Row: RowResponse, Name: name, Request: r, Status: 400, Code: "mle_decrypt_failed"}
	}
	accepted := func(name string, to *Key, rsp any, fields ...Field) Case {
		c := passed(RowResponse, name, bound(tb, w, map[string]any{"rsp": rsp}, fields...), plaintext)
		c.Wrapped, c.CTY = to, "application/json"
		return c
	}
	unknown := refused("no such response key", w.Foreign.KID, required, kid(w.Foreign))
	unknown.Code = "mle_kid_unknown"
	return []Case{
		refused("the demand is removed", "required"),
		refused("the demand is removed, the key is named", w.ResponseKey.KID),
		refused("another response key is demanded", w.ResponseKey.KID, required, kid(w.Older)),
		refused("the response key is removed, another is newer", w.Older.KID, required),
		refused("another word", "Required", required),
		refused("empty", "", required),
		refused("a number", 1, required),
		refused("a list", []string{"required"}, required),
		unknown,
		accepted("the demand arrives", &w.ResponseKey, "required", required),
		accepted("the demand and any key arrive", &w.Older, "required", required, kid(w.Older)),
		accepted("the newest key is named", &w.ResponseKey, w.ResponseKey.KID, required),
		accepted("the demand and its key arrive", &w.Older, w.Older.KID, required, kid(w.Older)),
	}
}

func idempotencyBindingCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	key := func(value string) Field { return Field{"Idempotency-Key", value} }
	refused := func(name string, members map[string]any, fields ...Field) Case {
		r := bound(tb, w, members, fields...)
		return Case{Row: RowIdempotency, Name: name, Request: r, Status: 400, Code: "mle_decrypt_failed"}
	}
	one := map[string]any{"idk": "one"}
	arrives := passed(RowIdempotency, "the key arrives", bound(tb, w, one, key("one")), plaintext)
	arrives.Has = append(arrives.Has, key("one"))
	quoted := passed(RowIdempotency, "the key in quotes", bound(tb, w, one, key(`"one"`)), plaintext)
	quoted.Has = append(quoted.Has, key(`"one"`))
	unbound := passed(RowIdempotency, "a key that is not bound", bound(tb, w, nil, key("one")), plaintext)
	unbound.Has = append(unbound.Has, key("one"))
	return []Case{
		refused("another key", one, key("two")),
		refused("the key is removed", one),
		refused("another key is added", one, key("one"), key("two")),
		refused("the same key twice", one, key("one"), key("one")),
		refused("another key in quotes", one, key(`"two"`)),
		refused("the key in capitals", one, key("ONE")),
		refused("empty", map[string]any{"idk": ""}, key("one")),
		refused("a number", map[string]any{"idk": 1}, key("1")),
		refused("a list", map[string]any{"idk": []string{"one"}}, key("one")),
		refused("no time", map[string]any{"idk": "one", "iat": nil}, key("one")),
		refused("a time that is over", map[string]any{"idk": "one", "iat": Noon.Unix() - 301}, key("one")),
		arrives, quoted, unbound,
	}
}
