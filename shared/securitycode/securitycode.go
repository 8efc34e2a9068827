package securitycode

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Without returns a JSON text without white space and without the members for which isCode reports
// true. isCode gets the path of each member. The order of members and the form of numbers stay. The
// error is that of a text that is not JSON, or that has a name twice.
func Without(text []byte, isCode func(path jsontext.Pointer) bool) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, len(text)))
	d, e := jsontext.NewDecoder(bytes.NewReader(text)), jsontext.NewEncoder(out)
	for {
		inside, n := d.StackIndex(d.StackDepth())
		isName := inside == jsontext.KindBeginObject && n%2 == 0
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), nil
		case err != nil:
			return nil, fmt.Errorf("securitycode: %w", err)
		case isName && token.Kind() == jsontext.KindString && isCode(d.StackPointer()):
			err = d.SkipValue()
		default:
			err = e.WriteToken(token)
		}
		if err != nil {
			return nil, fmt.Errorf("securitycode: %w", err)
		}
	}
}
