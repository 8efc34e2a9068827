// Package p12 writes PKCS #12 files (RFC 7292): a private key with its certificate, and certificates of others. Names are written as the
// friendly names by which provider-b clients find what they look for. PBES2 with AES-256 and an HMAC with SHA-256 is the profile that
// OpenSSL, Java and node-forge all read.
package p12
