package securitycode

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/jsonscan"
)

// Without returns a JSON text without white space and without the members for which isCode reports
// true. The order of members and the form of numbers stay. It returns an error if the text is not
// JSON, or has a name twice. The time and memory are proportional to the length of the text.
func Without(text []byte, isCode func(m jsonscan.Member) bool) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, len(text)))
	s, e := jsonscan.New(text), jsontext.NewEncoder(out)
	for {
		token, err := s.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), nil
		case err != nil:
			return nil, fmt.Errorf("securitycode: %w", err)
		case s.IsName() && isCode(s.Member()):
			err = s.SkipValue()
		default:
			err = e.WriteToken(token)
		}
		if err != nil {
			return nil, fmt.Errorf("securitycode: %w", err)
		}
	}
}
