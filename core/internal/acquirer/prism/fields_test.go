package prism_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// value is the text of a field, and its kind in JSON: string, number or bool. XML has no kinds.
type value struct{ text, kind string }

// fields are the values of a message by their paths.
type fields map[string]value

// equal reports whether two values are the same. A number of JSON is the same as a text of XML with
// equal digits or more zeros.
func equal(a, b value) bool {
	if a.kind != "" && b.kind != "" && a.kind != b.kind {
		return false
	}
	if a.text == b.text {
		return true
	}
	x, isX := new(big.Rat).SetString(a.text)
	y, isY := new(big.Rat).SetString(b.text)
	return (a.kind == "number" || b.kind == "number") && isX && isY && x.Cmp(y) == 0
}

// fieldsOf returns the fields of a request. The body is XML if xml is true, and else JSON.
func fieldsOf(t *testing.T, r request, document bool) fields {
	t.Helper()
	out := fields{"HTTP method": {text: r.method}, "HTTP path": {text: r.path}}
	var err error
	if document {
		err = out.addXML(r.body)
	} else {
		err = out.addJSON(r.body)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	for _, header := range []string{
		"Accept", "Content-Type", "V-C-Merchant-Id", "Date", "Digest", "Signature", "Via", "User-Agent",
	} {
		if text := r.header.Get(header); text != "" {
			out["HTTP "+header] = value{text: shown(header, text, r.body)}
		}
	}
	return out
}

var macForm = regexp.MustCompile(`signature="[A-Za-z0-9+/]{43}="`)

// shown returns a header with its meaning if the value differs from request to request.
func shown(header, text, body string) string {
	sum := sha256.Sum256([]byte(body))
	_, badDate := http.ParseTime(text)
	switch {
	case header == "Digest" && text == "SHA-256="+base64.StdEncoding.EncodeToString(sum[:]):
		return "SHA-256 of the body"
	case header == "Date" && badDate == nil:
		return "HTTP date"
	case header == "Signature":
		return macForm.ReplaceAllString(text, "MAC")
	}
	return text
}

func (f fields) addJSON(text string) error {
	var root any
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		return err
	}
	if wrapped, is := root.(object)["createTransactionRequest"]; is {
		root = wrapped
	}
	f.add("", root)
	return nil
}

// add adds a value of JSON. The providers treat null as absent.
func (f fields) add(path string, v any) {
	switch v := v.(type) {
	case nil:
	case object:
		for name, member := range v {
			f.add(strings.TrimPrefix(path+"."+name, "."), member)
		}
	case []any:
		for i, member := range v {
			f.add(fmt.Sprintf("%s[%d]", path, i), member)
		}
	case float64:
		f[path] = value{big.NewFloat(v).Text('f', -1), "number"}
	case bool:
		f[path] = value{strconv.FormatBool(v), "bool"}
	case string:
		f[path] = value{v, "string"}
	}
}

// addXML adds the elements with text below the root. A setting is an element with its name.
func (f fields) addXML(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	var path []string
	var content, setting string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			path, content = append(path, token.Name.Local), ""
		case xml.CharData:
			content += string(token)
		case xml.EndElement:
			last := path[len(path)-1]
			at := strings.Join(path[1:], ".")
			switch {
			case last == "settingName":
				setting = content
			case last == "settingValue":
				f["transactionSettings."+setting] = value{text: content}
			case content != "":
				f[at] = value{text: content}
			}
			path, content = path[:len(path)-1], ""
		}
	}
}
