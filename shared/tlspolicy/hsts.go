package tlspolicy

// HSTSHeader and HSTS are the header that makes browsers use only HTTPS for the next two years.
// Every response over HTTPS has it, including errors and a proxy's responses. No response over
// plain HTTP has it (RFC 6797, 7.2). It omits preload, because the owner of the domain decides
// about that.
const (
	HSTSHeader = "Strict-Transport-Security"
	HSTS       = "max-age=63072000; includeSubDomains"
)
