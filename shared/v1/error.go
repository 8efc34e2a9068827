package v1

// Body returns the body of a response with the error, with the URL of the code's documentation.
func (e Error) Body() ErrorBody {
	e.DocURL = DocURL(e.Code)
	return ErrorBody{Error: e}
}

// DocURL returns the doc_url of errors with the code. It is relative to the URL of the request. No
// program has the host names by which clients reach it, and core stores responses. Every host that
// serves v1 also serves /docs.
func DocURL(code string) string { return "/docs#" + ErrorAnchor(code) }

// ErrorAnchor returns the anchor of a code in the page /docs.
func ErrorAnchor(code string) string { return "error-" + code }
