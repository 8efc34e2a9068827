package api_test

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// birth is when every bundle's clock starts.
var birth = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)

// bundle is an open core behind HTTP with one merchant and its secret test key.
type bundle struct {
	dir           string
	catalogue     string
	keepPersonal  time.Duration // Config.KeepPersonal
	keepCustomers time.Duration // Config.KeepCustomers
	rateLimit     int           // -1 for none, as in most tests: the clock does not advance, so no token would be refilled
	private       bool          // webhooks may go to this machine
	bodyGrace     time.Duration // Config.BodyGrace
	atOnce        int           // requests that are served at the same time, 0 for the default
	tracer        *telemetry.Tracer
	token         string        // the operator's, "" for none
	filter        string        // the secret of the filter in front, "" for none
	hop           string        // Config.HopSecret, "" for none
	inner         bool          // requests need no filter in front
	kinds         account.Kinds // Config.Kinds
	clock         *clock.Fake
	logs          *programtest.Log
	core          *core.Core
	server        *httptest.Server
	client        *http.Client
	database      *coretest.Database
	file          bool               // the store is a file, even if the tests run on a server
	on            *coretest.Database // the database of the store, if the test started its own server
	inspect       *sql.DB
	merchant      string
	key           string
}

func setup(t *testing.T) *bundle {
	t.Helper()
	return setupWith(t, "")
}

// setupWith opens a bundle with the simulator's catalogue at a path, "" for the built-in one.
func setupWith(t *testing.T, catalogue string) *bundle {
	t.Helper()
	return openBundle(t, &bundle{catalogue: catalogue, rateLimit: -1})
}

// openBundle starts a service with the settings of the bundle, with a merchant and a key.
func openBundle(t *testing.T, b *bundle) *bundle {
	t.Helper()
	b.dir, b.clock, b.logs = t.TempDir(), clock.NewFake(birth), &programtest.Log{}
	switch {
	case b.on != nil:
		b.database = b.on
	case b.file:
		b.database = &coretest.Database{Path: filepath.Join(b.dir, "causeway.db")}
	default:
		b.database = coretest.NewDatabase(t, b.dir)
	}
	b.start(t)
	t.Cleanup(func() { b.stop(t) })
	b.merchant = coretest.MustCreateMerchant(t, b.core.Admin())
	b.key = coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret"})
	b.inspect = b.database.MustInspect(t)
	return b
}

func (b *bundle) start(t *testing.T) {
	t.Helper()
	log := slog.New(slog.NewJSONHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	at := b.config()
	cfg := core.Config{
		Data: at.Data, Database: at.Database, VaultKEK: at.VaultKEK, Clock: at.Clock, ClockApart: true,
		SimulatorJournal: filepath.Join(b.dir, "simulator.journal"), // of a store on a server, too
	}
	cfg.Simulator, cfg.Log, cfg.RateLimit, cfg.WebhooksAllowPrivate, cfg.Concurrency = b.catalogue, log, b.rateLimit, b.private, b.atOnce
	cfg.BodyGrace, cfg.Kinds = b.bodyGrace, b.kinds
	cfg.KeepPersonal, cfg.KeepCustomers, cfg.HopSecret = b.keepPersonal, b.keepCustomers, secret.New(b.hop)
	cfg.Tracer, cfg.FilterToken, cfg.FilterSecret = b.tracer, secret.New(b.token), secret.New(b.filter)
	c, err := core.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.core = c
	b.server = httptest.NewServer(c.Handler())
	if b.inner {
		b.server.Config.Handler = c.Inner()
	}
	transport := coretest.NewContract(t, http.DefaultTransport.(*http.Transport).Clone())
	b.client = &http.Client{Transport: transport, Timeout: programtest.Patience}
}

// testKEK returns the key-encryption key of the tests' databases.
func testKEK() secret.String {
	return secret.New(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, vault.KEKSize)))
}

// config returns the location of the bundle's store for commands.
func (b *bundle) config() datadir.Config {
	at := datadir.Config{Data: b.dir, Clock: b.clock}
	if b.on != nil || coretest.Shared() && !b.file {
		at.Database, at.VaultKEK = b.database.Open, testKEK()
	}
	return at
}

func (b *bundle) stop(t *testing.T) {
	t.Helper()
	b.client.CloseIdleConnections()
	b.server.Close()
	if err := b.core.Close(); err != nil {
		t.Error(err)
	}
}

// restart closes the service, which has run for as long as the clock has, and opens it again on the
// same folder.
func (b *bundle) restart(t *testing.T) {
	t.Helper()
	b.stop(t)
	b.database.MustConfirm(t, b.clock)
	b.start(t)
}

// tables returns all tables with data of a merchant.
func tables() []string {
	return []string{
		"merchants", "api_keys", "transactions", "captures", "refunds", "events", "idempotency_keys",
		"tokens", "customers", "payment_methods", "webhook_endpoints", "webhook_deliveries", "settlement_totals",
	}
}

// rows counts every table. It reads the database file, not the service.
func (b *bundle) rows(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, table := range tables() {
		fmt.Fprintf(&out, "%s=%d ", table, b.number(t, "SELECT COUNT(*) FROM "+table))
	}
	return out.String()
}

// effects counts every table except the idempotency keys, which store refusals.
func (b *bundle) effects(t *testing.T) string {
	t.Helper()
	keys := fmt.Sprintf("idempotency_keys=%d ", b.number(t, "SELECT COUNT(*) FROM idempotency_keys"))
	return strings.Replace(b.rows(t), keys, "", 1)
}

// number returns the result of a query for one integer.
func (b *bundle) number(t *testing.T, query string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := b.inspect.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// text returns the result of a query for one text.
func (b *bundle) text(t *testing.T, query string) string {
	t.Helper()
	var out string
	if err := b.inspect.QueryRowContext(t.Context(), query).Scan(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// request is a request that is not sent yet.
type request struct {
	method, path, body string
	header             http.Header
	chunked            bool // sent without a length
}

type option func(*request)

// as sends another API key.
func as(key string) option { return header("Authorization", "Bearer "+key) }

// keyed sends an Idempotency-Key.
func keyed(key string) option { return header("Idempotency-Key", key) }

// header sets a header; several values are several lines, none removes it.
func header(name string, values ...string) option {
	return func(r *request) { r.header[name] = values }
}

// response is a complete response.
type response struct {
	status int
	header http.Header
	body   []byte
}

func (b *bundle) post(t *testing.T, path, body string, options ...option) response {
	t.Helper()
	return b.do(t, http.MethodPost, path, body, options...)
}

func (b *bundle) get(t *testing.T, path string, options ...option) response {
	t.Helper()
	if strings.HasPrefix(path, "/v1/events") {
		b.database.WaitForCommands(t, b.inspect)
	}
	return b.do(t, http.MethodGet, path, "", options...)
}

func (b *bundle) do(t *testing.T, method, path, body string, options ...option) response {
	t.Helper()
	a, err := b.try(t, method, path, body, options...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// try is do for goroutines, which must not end the test.
func (b *bundle) try(t *testing.T, method, path, body string, options ...option) (a response, err error) {
	t.Helper()
	in := request{method: method, path: path, body: body, header: http.Header{"Authorization": {"Bearer " + b.key}}}
	if body != "" {
		in.header.Set("Content-Type", "application/json")
	}
	for _, o := range options {
		o(&in)
	}
	r, err := http.NewRequestWithContext(t.Context(), in.method, b.server.URL+in.path, strings.NewReader(in.body))
	if err != nil {
		return a, err
	}
	if in.chunked {
		r.ContentLength = -1
	}
	r.Header = in.header
	resp, err := b.client.Do(r)
	if err != nil {
		return a, err
	}
	defer func() { _ = resp.Body.Close() }()
	read, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, read}, err
}

// MustDecode reads a response of the wanted status, strictly: a field outside the contract is an
// error.
func MustDecode[T any](tb testing.TB, a response, status int) T {
	tb.Helper()
	if got, want := a.status, status; got != want {
		tb.Fatalf("status: got %d, want %d: %s", got, want, a.body)
	}
	var v T
	if err := json.Unmarshal(a.body, &v, json.RejectUnknownMembers(true)); err != nil {
		tb.Fatalf("%v: %s", err, a.body)
	}
	return v
}

// MustCreate makes a transaction that is approved. fields are further members of the body, each
// with a leading comma.
func (b *bundle) MustCreate(t *testing.T, amount int64, fields string) v1.Transaction {
	t.Helper()
	return MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(amount, fields)), 201)
}

// create returns the body of a create.
func create(amount int64, fields string) string {
	return fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":"pm_card_visa"%s}`, amount, fields)
}

const manual = `,"capture":"manual"`

func (b *bundle) transaction(t *testing.T, id string) v1.Transaction {
	t.Helper()
	return MustDecode[v1.Transaction](t, b.get(t, "/v1/transactions/"+id), 200)
}

func (b *bundle) capture(t *testing.T, id, body string, options ...option) response {
	t.Helper()
	return b.post(t, "/v1/transactions/"+id+"/captures", body, options...)
}

func (b *bundle) void(t *testing.T, id string, options ...option) response {
	t.Helper()
	return b.post(t, "/v1/transactions/"+id+"/void", "", options...)
}

func (b *bundle) refund(t *testing.T, id, fields string, options ...option) response {
	t.Helper()
	return b.post(t, "/v1/refunds", `{"transaction":"`+id+`"`+fields+`}`, options...)
}

func (b *bundle) settle(t *testing.T, id string) {
	t.Helper()
	got := MustDecode[v1.Transaction](t, b.post(t, "/v1/test_helpers/transactions/"+id+"/settle", ""), 200)
	if got.Settlement != v1.SettlementSettled {
		t.Errorf("settlement: got %s, want settled", got.Settlement)
	}
}

// refusal is the content of an error. An empty param means that there must be none.
type refusal struct {
	status      int
	kind        v1.ErrorType
	code, param string
}

// wantRefusal checks an error's whole shape and returns it.
func wantRefusal(t *testing.T, a response, want refusal) v1.Error {
	t.Helper()
	e := MustDecode[v1.ErrorBody](t, a, want.status).Error
	got := refusal{e.Status, e.Type, e.Code, ""}
	if e.Param != nil {
		got.param = *e.Param
	}
	if got != want {
		t.Errorf("got %+v, want %+v: %s", got, want, a.body)
	}
	if got, want := e.RequestID, a.header.Get("Request-Id"); got != want && a.header.Get("Idempotent-Replayed") == "" {
		t.Errorf("request id: got %q in the body, %q in the header", got, want)
	}
	if e.Message == "" {
		t.Error("no message")
	}
	if want := v1.WithField(e.Code, got.param, e.Message); e.Message != want {
		t.Errorf("message: got %q, want %q", e.Message, want)
	}
	return e
}

// amounts are the amounts of a transaction that steps change.
type amounts struct{ authorized, captured, refunded, capturable, refundable int64 }

func amountsOf(t v1.Transaction) amounts {
	return amounts{t.AmountAuthorized, t.AmountCaptured, t.AmountRefunded, t.AmountCapturable, t.AmountRefundable}
}

// wantTransaction reads a transaction and checks its state and amounts.
func (b *bundle) wantTransaction(t *testing.T, id string, status v1.TransactionStatus, want amounts) v1.Transaction {
	t.Helper()
	got := b.transaction(t, id)
	if got.Status != status {
		t.Errorf("status: got %s, want %s", got.Status, status)
	}
	if got := amountsOf(got); got != want {
		t.Errorf("amounts: got %+v, want %+v", got, want)
	}
	return got
}
