package pgurl

import (
	"errors"
	"fmt"
)

// Question is what Fit wants the answer to, over a connection by the URL in question.
const Question = `SELECT current_setting('server_encoding'), CASE source WHEN 'client' THEN setting ELSE 'on' END
	FROM pg_settings WHERE name = 'synchronous_commit'`

// Fit reads the answer to Question. It refuses a database that cannot keep every text, and connections that are told not to wait until what they commit is
// kept; lost is what that would lose. failed is why there was no answer.
func Fit(answer interface{ Scan(to ...any) error }, lost string) (refusal, failed error) {
	var encoding, waits string
	if err := answer.Scan(&encoding, &waits); err != nil {
		return nil, fmt.Errorf("ask what the database keeps: %w", err)
	}
	switch {
	case encoding != "UTF8":
		return fmt.Errorf("the database's encoding is %s, it must be UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0", encoding), nil
	case waits == "off", waits == "local":
		return errors.New("the URL of the database sets synchronous_commit to " + waits + ", which loses " + lost + ": leave it out"), nil
	}
	return nil, nil
}
