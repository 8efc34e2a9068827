package docs

import (
	"fmt"
	"regexp"
	"strings"
)

// The placeholders in the examples. The page's script replaces them by the reader's values.
const (
	exampleOrigin = "http://127.0.0.1:8080"
	exampleKey    = "sk_test_…"
)

// example is a request that works when it is pasted into a shell.
type example struct {
	needs []string          // objects that must be made first, by the names of recipes
	path  map[string]string // the shell variables or texts for the path's variables
	query string
	key   string // the Idempotency-Key
	body  string // JSON; a shell variable is written as '$name'
}

// recipe makes an object and keeps its id in a shell variable named after it.
type recipe struct {
	prefix string // of the id
	kid    string // instead: the text before a key id or a value, for grep
	path   string
	key    string
	body   string // "" for a GET, unless it is a POST
	post   bool
	needs  []string
}

const (
	sale       = `{"amount": 1250, "currency": "usd", "payment_method": "card"}`
	authorized = `{"amount": 1250, "currency": "usd", "payment_method": "card", "capture": "manual"}`
	card       = `{"card": {"number": "4242424242424242", "exp_month": 12, "exp_year": 2030, "cvc": "123"}}`
	shipTo     = `{"first_name": "Ada", "address": {"line1": "1 Main St", "city": "Bellevue"}}`
	publicKey  = `{"jwk": {"kty": "EC", "crv": "P-256", "alg": "ECDH-ES+A256KW", "use": "enc", "x": "` + exampleX +
		`", "y": "` + exampleY + `"}}`
	endpointOf = `{"url": "https://shop.example/webhooks", "enabled_events": ["*"]}`
)

var recipes = map[string]recipe{
	"transaction": {prefix: "txn", path: "/v1/transactions", body: sale},
	"authorized":  {prefix: "txn", path: "/v1/transactions", body: authorized},
	"waiting": {
		prefix: "txn", path: "/v1/transactions",
		body: `{"amount": 1250, "currency": "usd", "confirm": false}`,
	},
	"keyed": {prefix: "txn", path: "/v1/transactions", key: "order-1042", body: sale},
	"capture": {
		prefix: "cap", path: "/v1/transactions/$authorized/captures", body: `{"amount": 1000}`,
		needs: []string{"authorized"},
	},
	"refund": {
		prefix: "re", path: "/v1/refunds", body: `{"transaction": "'$transaction'"}`,
		needs: []string{"transaction"},
	},
	"settled": {
		prefix: "txn", path: "/v1/test_helpers/transactions/$transaction/settle", needs: []string{"transaction"}, post: true,
	},
	"settlement_day": {prefix: "day", path: "/v1/settlement_days?limit=1", needs: []string{"settled"}},
	"token":          {prefix: "tok", path: "/v1/tokens", body: card},
	"token_value":    {kid: `"value":"`, path: "/v1/tokens", body: card},
	"customer":       {prefix: "cus", path: "/v1/customers", body: `{"first_name": "Ada", "email": "ada@example.com"}`},
	"payment_method": {
		prefix: "pm", path: "/v1/customers/$customer/payment_methods",
		body: `{"token": "'$token_value'"}`, needs: []string{"customer", "token_value"},
	},
	"shipping_address": {
		prefix: "addr", path: "/v1/customers/$customer/shipping_addresses", body: shipTo, needs: []string{"customer"},
	},
	"api_key":          {prefix: "key", path: "/v1/api_keys", body: `{"kind": "secret", "scopes": ["transactions:read"]}`},
	"webhook_endpoint": {prefix: "we", path: "/v1/webhook_endpoints", body: endpointOf},
	"event":            {prefix: "evt", path: "/v1/events?limit=1", needs: []string{"customer"}},
	"mle_key":          {kid: `"kid":"`, path: "/v1/mle/keys/current"},
	"previous_key": {
		kid: `"previous":{[^}]*"kid":"`, path: "/v1/mle/keys/rotate", body: `{"expires_in": 86400}`,
		needs: []string{"mle_key"},
	},
	"response_key": {kid: `"kid":"`, path: "/v1/mle/response_keys", body: publicKey},
}

// examples are the examples of operations that need more than their path.
var examples = map[string]example{
	"createTransaction": {
		body: `{"amount": 1250, "currency": "usd", "payment_method": "card", "reference": "order-1043"}`,
	},
	"listTransactions": {query: "?status=captured&limit=3"},
	"getTransaction":   of("transaction"),
	"updateTransaction": {
		needs: []string{"waiting"}, path: id("waiting"),
		body: `{"amount": 1450, "description": "a mug, and its saucer"}`,
	},
	"confirmTransaction": {
		needs: []string{"waiting"}, path: id("waiting"),
		body: `{"payment_method": "pm_card_visa", "amount": 1250, "currency": "usd"}`,
	},
	"voidTransaction":         of("authorized"),
	"listTransactionCaptures": of("transaction"),
	"createCapture": {
		needs: []string{"authorized"}, path: id("authorized"),
		body: `{"amount": 1000, "final": true}`,
	},
	"getCapture":  of("capture"),
	"listRefunds": {query: "?metadata%5Border%5D=1042"},
	"createRefund": {
		needs: []string{"transaction"},
		body:  `{"transaction": "'$transaction'", "amount": 500, "reason": "one mug was broken"}`,
	},
	"getRefund":          expanded("refund", "transaction"),
	"listSettlementDays": {query: "?limit=3"},
	"getSettlementDay":   of("settlement_day"),
	"createToken":        {body: card},
	"getToken":           of("token"),
	"createCustomer":     {body: `{"first_name": "Ada", "email": "ada@example.com", "metadata": {"plan": "gold"}}`},
	"getCustomer":        of("customer"),
	"updateCustomer":     {needs: []string{"customer"}, path: id("customer"), body: `{"phone": "+43 1 5550100"}`},
	"deleteCustomer":     of("customer"),
	"listPaymentMethods": of("customer"),
	"attachPaymentMethod": {
		needs: []string{"customer", "token_value"}, path: id("customer"),
		body: `{"token": "'$token_value'"}`,
	},
	"getPaymentMethod":      method(),
	"updatePaymentMethod":   changedMethod(),
	"detachPaymentMethod":   method(),
	"createShippingAddress": {needs: []string{"customer"}, path: id("customer"), body: shipTo},
	"getShippingAddress":    addressed(""),
	"updateShippingAddress": addressed(`{"phone": "+43 1 5550100"}`),
	"deleteShippingAddress": addressed(""),
	"createAPIKey":          {body: `{"kind": "secret", "name": "reports", "scopes": ["transactions:read"]}`},
	"getAPIKey":             of("api_key"),
	"revokeAPIKey":          of("api_key"),
	"rollAPIKey":            {needs: []string{"api_key"}, path: id("api_key"), body: `{"expires_in": 3600}`},
	"reserveIdempotencyKey": {key: "nonce-7f2d", body: `{"purpose": "nonce"}`},
	"getIdempotencyKey":     {needs: []string{"keyed"}, path: map[string]string{"key": "order-1042"}},
	"getEvent":              of("event"),
	"redeliverEvent":        of("event"),
	"createWebhookEndpoint": {
		body: `{"url": "https://shop.example/webhooks", "enabled_events": ["transaction.captured", "refund.succeeded"]}`,
	},
	"getWebhookEndpoint": of("webhook_endpoint"),
	"updateWebhookEndpoint": {
		needs: []string{"webhook_endpoint"}, path: id("webhook_endpoint"),
		body: `{"enabled_events": ["*"]}`,
	},
	"deleteWebhookEndpoint": of("webhook_endpoint"),
	"rollWebhookSecret":     of("webhook_endpoint"),
	"listWebhookDeliveries": of("webhook_endpoint"),
	"rotateMLEKey":          {body: `{"expires_in": 86400}`},
	"endMLEKey": {
		needs: []string{"mle_key", "previous_key"},
		path:  map[string]string{"kid": "$previous_key"},
	},
	"createMLEResponseKey": {body: publicKey},
	"deleteMLEResponseKey": {needs: []string{"response_key"}, path: map[string]string{"kid": "$response_key"}},
	"answerMLEChallenge":   {path: map[string]string{"kid": exampleKid}, body: `{"answer": "…"}`},
	"settleTransaction":    of("transaction"),
	"expireTransaction":    of("authorized"),
	"advanceTestClock":     {body: `{"seconds": 86400}`},
}

// exampleKid is the thumbprint of the key in RFC 7638's example.
const exampleKid = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"

// exampleX and exampleY are the public key on P-256 in RFC 7517's example.
const (
	exampleX = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"
	exampleY = "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"
)

func id(name string) map[string]string { return map[string]string{"id": "$" + name} }

// of returns an example that needs one object, which its path names.
func of(name string) example { return example{needs: []string{name}, path: id(name)} }

// expanded is of with another object that the response shows too.
func expanded(name, other string) example {
	e := of(name)
	e.query = "?expand=" + other
	return e
}

func method() example {
	e := of("customer")
	e.needs = []string{"customer", "token_value", "payment_method"}
	e.path["payment_method"] = "$payment_method"
	return e
}

// addressed returns the example of an operation on one shipping address.
func addressed(body string) example {
	return example{
		needs: []string{"customer", "shipping_address"}, body: body,
		path: map[string]string{"id": "$customer", "shipping_address": "$shipping_address"},
	}
}

// changedMethod is method for the change of a payment method.
func changedMethod() example {
	e := method()
	e.body = `{"card": {"exp_month": 4, "exp_year": 2032}}`
	return e
}

// shell returns the example of an endpoint. It returns an error if the table above lacks an object
// that the path needs.
func shell(e endpoint) (string, error) {
	x := examples[e.ID]
	var b strings.Builder
	done := map[string]bool{}
	for _, need := range x.needs {
		prepare(&b, need, done)
	}
	path := variable.ReplaceAllStringFunc(e.Path, func(name string) string { return x.path[strings.Trim(name, "{}")] })
	if strings.Contains(path, "//") || strings.HasSuffix(path, "/") {
		return "", fmt.Errorf("docs: %s has no example for its path", e.ID)
	}
	if e.Open {
		b.WriteString("curl -sS " + exampleOrigin + path)
		return b.String(), nil
	}
	request(&b, e.Method, path+x.query, x.key, x.body)
	return b.String(), nil
}

var variable = regexp.MustCompile(`\{[a-z_]+\}`)

// prepare writes the requests that make an object, after the requests for the objects that it
// needs, each once.
func prepare(b *strings.Builder, name string, done map[string]bool) {
	if done[name] {
		return
	}
	done[name] = true
	r := recipes[name]
	for _, need := range r.needs {
		prepare(b, need, done)
	}
	method := "POST"
	if r.body == "" && !r.post {
		method = "GET"
	}
	b.WriteString(name + "=$(")
	request(b, method, r.path, r.key, r.body)
	if r.kid != "" {
		b.WriteString(" \\\n  | grep -o '" + r.kid + "[^\"]*' | head -n 1 | grep -o '[^\"]*$')\n")
		return
	}
	b.WriteString(" \\\n  | grep -o '" + r.prefix + "_[0-9a-z]*' | head -n 1)\n")
}

// request writes one call of curl.
func request(b *strings.Builder, method, path, key, body string) {
	b.WriteString("curl -sS ")
	if method != "GET" && (method != "POST" || body == "") {
		b.WriteString("-X " + method + " ")
	}
	target := exampleOrigin + path
	if strings.ContainsAny(path, "$?&") {
		target = `"` + target + `"`
	}
	b.WriteString(target + " \\\n  -H 'Authorization: Bearer " + exampleKey + "'")
	if key != "" {
		b.WriteString(" \\\n  -H 'Idempotency-Key: " + key + "'")
	}
	if body != "" {
		b.WriteString(" \\\n  -H 'Content-Type: application/json' \\\n  -d '" + body + "'")
	}
}

// basic returns an example that belongs to no single endpoint.
func basic(method, path, key, body string) string {
	var b strings.Builder
	request(&b, method, path, key, body)
	return b.String()
}
