package standalone_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// half is a request without its body: the server has read the head.
type half struct {
	conn   net.Conn
	reader *bufio.Reader
	body   string
}

// begin sends the head of a POST, and returns when the handler reads the body.
func begin(tb testing.TB, conn net.Conn, path, headers, body string) *half {
	tb.Helper()
	tb.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline( //nolint:forbidigo // deadlines are of the machine's clock
		time.Now().Add(patience)); err != nil {
		tb.Fatal(err)
	}
	_, err := fmt.Fprintf(conn,
		"POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", path, headers,
		len(body))
	if err != nil {
		tb.Fatal(err)
	}
	h := &half{conn: conn, reader: bufio.NewReader(conn), body: body}
	line, err := textproto.NewReader(h.reader).ReadLine()
	if err != nil || !strings.Contains(line, " 100 ") {
		tb.Fatalf("first line = %q, %v, want 100 Continue", line, err)
	}
	if _, err := textproto.NewReader(h.reader).ReadLine(); err != nil {
		tb.Fatal(err)
	}
	return h
}

// finish sends the body and returns the response.
func (h *half) finish(tb testing.TB) (status int, body string) {
	tb.Helper()
	if _, err := io.WriteString(h.conn, h.body); err != nil {
		tb.Fatal(err)
	}
	response, err := http.ReadResponse(h.reader, nil)
	if err != nil {
		tb.Fatalf("a request under way was dropped: %v", err)
	}
	data, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // read to its end
	if err != nil {
		tb.Fatal(err)
	}
	return response.StatusCode, string(data)
}

// saleXML returns a provider-a sale with the process's login.
func saleXML(p *process, amount string) string {
	return `<?xml version="1.0" encoding="utf-8"?><createTransactionRequest ` +
		`xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication><name>` +
		p.ProviderA.Name + `</name><transactionKey>` + p.ProviderA.TransactionKey +
		`</transactionKey></merchantAuthentication><transactionRequest>` +
		`<transactionType>authCaptureTransaction</transactionType><amount>` + amount +
		`</amount><payment><creditCard><cardNumber>4111111111111111</cardNumber>` +
		`<expirationDate>2031-04</expirationDate></creditCard></payment></transactionRequest></createTransactionRequest>`
}

func TestStopFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	plain := strings.TrimPrefix(p.HTTP, "http://")
	dial := func() net.Conn {
		conn, err := (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", plain)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	authorization := "Authorization: Bearer " + p.Keys.SKTest + "\r\nContent-Type: application/json\r\n"
	v1 := begin(t, dial(), "/v1/transactions", authorization, `{"amount":100,"currency":"usd","payment_method":"card"}`)
	legacy := begin(t, dial(), "/compat/provider-a/xml", "Content-Type: text/xml\r\n", saleXML(p, "2.00"))
	secure := begin(t, dialTLS(t, p), "/xml/v1/request.api", "Content-Type: text/xml\r\n", saleXML(p, "3.00"))

	p.Signal(syscall.SIGTERM)
	waitUntilRefused(t, plain)
	waitUntilRefused(t, strings.TrimPrefix(p.HTTPS, "https://"))
	if status, body := v1.finish(t); status != http.StatusCreated {
		t.Errorf("v1: status = %d, want %d: %s", status, http.StatusCreated, body)
	}
	for name, h := range map[string]*half{"legacy": legacy, "legacy over https": secure} {
		if _, body := h.finish(t); !strings.Contains(body, "<responseCode>1</responseCode>") {
			t.Errorf("%s: response = %s, want an approval", name, body)
		}
	}
	if err := p.Err(); err != nil {
		t.Errorf("exit: %v; stderr:\n%s", err, p.Log)
	}
	if got, want := len(merchantOf(t, start(t, dir)).transactions(t)), 3; got != want {
		t.Errorf("transactions after the stop = %d, want %d", got, want)
	}
}

func dialTLS(tb testing.TB, p *process) net.Conn {
	tb.Helper()
	pem, err := os.ReadFile(p.CA)
	if err != nil {
		tb.Fatal(err)
	}
	policy := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	policy.RootCAs.AppendCertsFromPEM(pem)
	conn, err := (&tls.Dialer{Config: policy}).DialContext(tb.Context(), "tcp", strings.TrimPrefix(p.HTTPS, "https://"))
	if err != nil {
		tb.Fatal(err)
	}
	return conn
}

// waitUntilRefused waits until addr refuses connections.
func waitUntilRefused(tb testing.TB, addr string) {
	tb.Helper()
	programtest.WaitFor(tb, addr+" is closed", func() bool { return !programtest.Listening(tb.Context(), addr) })
}
