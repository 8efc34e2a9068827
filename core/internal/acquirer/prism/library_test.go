package prism_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// call is a message for the library to encode or decode.
type call struct {
	Flow     string    `json:"flow"`
	Options  object    `json:"options"`
	Request  object    `json:"request"`
	Response *response `json:"response,omitzero"`
}

// object is a message of the library in JSON.
type object = map[string]any

// response is an HTTP response to be decoded.
type response struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
}

// result is the library's result for a call. Only one of URL, Status and Error is not empty.
type result struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Status  string            `json:"status"`
	Decoded decoded           `json:"decoded"`
	Error   string            `json:"error"`
	Message string            `json:"message"`
}

// decoded has the members of all decoded responses that the tests compare.
type decoded struct {
	ID        string `json:"connectorTransactionId"`
	RefundID  string `json:"connectorRefundId"`
	NetworkID string `json:"networkTransactionId"`
	Amount    int64  `json:"authorizedAmount"`
	Captured  int64  `json:"capturedAmount"`
	Failure   struct {
		Connector struct {
			ID string `json:"connectorTransactionId"`
		} `json:"connectorDetails"`
		Issuer struct {
			Network struct {
				Decline string `json:"declineCode"`
				Advice  string `json:"adviceCode"`
			} `json:"networkDetails"`
		} `json:"issuerDetails"`
	} `json:"error"`
	Connector struct {
		Method struct {
			Card struct {
				Checks string `json:"paymentChecks"` // JSON
				Code   string `json:"authCode"`
			} `json:"card"`
		} `json:"additionalPaymentMethodData"`
	} `json:"connectorResponse"`
}

// run executes the calls in one process of the library, and returns its results in the same order.
func run(t *testing.T, calls []call) []result {
	t.Helper()
	modules := programtest.MustInstallNode(t, "node-prism", "node")
	portable(t, filepath.Join(modules, "hyperswitch-prism/dist/src/payments/generated"))
	var lines bytes.Buffer
	for _, c := range calls {
		if err := json.MarshalWrite(&lines, c, json.Deterministic(true)); err != nil {
			t.Fatal(err)
		}
		lines.WriteByte('\n')
	}
	out := programtest.MustOutput(t, programtest.Command{
		Path: "node", Args: []string{"node/program.js"}, Env: []string{"NODE_PATH=" + modules}, Stdin: &lines,
	})
	var results []result
	for line := range strings.Lines(out) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		results = append(results, r)
	}
	if len(results) != len(calls) {
		t.Fatalf("%d results for %d calls", len(results), len(calls))
	}
	return results
}

// changing is held while a test changes the library.
var changing sync.Mutex

// portable makes the Linux library load with a libc older than 2.38. Its only newer symbol is C23's
// strtol, which differs from strtol in binary numbers alone. The entry of that symbol gets the name
// and version of strtol, and the requirement of 2.38 becomes one of that version.
func portable(t *testing.T, generated string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	changing.Lock()
	defer changing.Unlock()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	path := filepath.Join(generated, "linux-"+arch, "libconnector_service_ffi.so")
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was read
	changes, err := downgrade(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(changes) == 0 {
		return
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // each write is checked
	for _, c := range changes {
		if _, err := w.WriteAt(c.bytes, c.at); err != nil {
			t.Fatal(err)
		}
	}
}

// change replaces bytes of a file.
type change struct {
	at    int64
	bytes []byte
}

const (
	newSymbol, oldSymbol = "__isoc23_strtol", "strtol"
	newVersion           = "GLIBC_2.38"
	oldNeighbor          = "getenv" // is of libc's first version, as strtol is
	symbolSize           = 24
)

var order = binary.LittleEndian

// downgrade returns the changes of portable, none for a library without the new symbol. The last
// change removes that symbol, so a run that ended between two changes is repeated.
func downgrade(f *elf.File) ([]change, error) {
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	number, neighbor := 0, 0
	for i, s := range symbols {
		switch {
		case s.Name == newSymbol:
			number = i + 1 // the table begins with an empty symbol
		case s.Name == oldNeighbor:
			neighbor = i + 1
		case s.Version == newVersion:
			return nil, fmt.Errorf("the symbol %s also needs %s", s.Name, newVersion)
		}
	}
	if number == 0 {
		return nil, nil
	}
	var tables [3][]byte
	var offsets [3]int64
	for i, name := range []string{".dynsym", ".gnu.version", ".gnu.version_r"} {
		section := f.Section(name)
		if tables[i], err = section.Data(); err != nil {
			return nil, err
		}
		offsets[i] = int64(section.Offset)
	}
	name := order.Uint32(tables[0][number*symbolSize:]) + uint32(len(newSymbol)-len(oldSymbol))
	index, other := order.Uint16(tables[1][number*2:]), order.Uint16(tables[1][neighbor*2:])
	from, to := requirement(tables[2], index), requirement(tables[2], other)
	if from < 0 || to < 0 {
		return nil, fmt.Errorf("no requirement of the versions %d and %d", index, other)
	}
	hash, title := tables[2][to:to+4], tables[2][to+8:to+12]
	return []change{
		{offsets[2] + int64(from), hash},
		{offsets[2] + int64(from) + 8, title},
		{offsets[1] + int64(number*2), order.AppendUint16(nil, other)},
		{offsets[0] + int64(number*symbolSize), order.AppendUint32(nil, name)},
	}, nil
}

// requirement returns the offset of the requirement with a version's index, -1 for none. Each
// library of the table has a list of them.
func requirement(table []byte, index uint16) int {
	for library := 0; ; {
		for at := library + int(order.Uint32(table[library+8:])); ; {
			if order.Uint16(table[at+6:]) == index {
				return at
			}
			next := int(order.Uint32(table[at+12:]))
			if next == 0 {
				break
			}
			at += next
		}
		next := int(order.Uint32(table[library+12:]))
		if next == 0 {
			return -1
		}
		library += next
	}
}
