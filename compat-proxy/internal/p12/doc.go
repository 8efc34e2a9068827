// Package p12 writes PKCS #12 files (RFC 7292): a private key with its certificate, and certificates of others. Names are written as the
// friendly names by which provider-b clients find what they look for. PBES2 with AES-256 and an HMAC with SHA-256 is the profile that
// OpenSSL, Java and node-forge all read.
//
// The package exists because software.sslmate.com/src/go-pkcs12, which its tests read with, writes no
// friendly name for a key and its certificate (v0.7.4). Replace it once that library does.
package p12
