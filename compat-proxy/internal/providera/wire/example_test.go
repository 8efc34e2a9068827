package wire_test

import (
	"bytes"
	"fmt"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

func ExampleParse() {
	body := []byte(`{"authenticateTestRequest":{"merchantAuthentication":{"name":"demoLogin1",` +
		`"transactionKey":"demoKey000000001"},"refId":"r-1"}}`)
	req, fault := wire.Parse(body, wire.Options{})
	if fault != nil {
		fmt.Println(fault.Code)
		return
	}
	fmt.Println(req.Method, *req.RefID, req.Root.Get("merchantAuthentication", "name"))
	fmt.Println(req.Root)
	// Output:
	// authenticateTestRequest r-1 demoLogin1
	// authenticateTestRequest{merchantAuthentication{name transactionKey} refId}
}

func ExampleDocument() {
	d := wire.Document{
		Root: "authenticateTestResponse", ResultCode: wire.ResultOK,
		Messages: []wire.Message{{Code: "I00001", Text: "Successful."}},
	}
	response := bytes.TrimPrefix(d.Bytes(wire.JSON), []byte("\xef\xbb\xbf"))
	fmt.Println(string(response))
	// Output:
	// {"messages":{"resultCode":"Ok","message":[{"code":"I00001","text":"Successful."}]}}
}
