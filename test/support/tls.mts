/**
 * A key and a certificate for tests alone: this file makes both public, so they protect nothing. The
 * certificate is self-signed, of elsewhere.example.com, and valid until the year 2120.
 */
export const testTls = {
	key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPsqbwYnLoc6+G2SR
IpCm+6iJf185KB+wG/gCUtCf7IqhRANCAAR0UodF3WT6SBpctneIJpGrvlgA78C2
amayz842XVKQWsFuRoB+DUZ6pVYYQyk99S/0YL1OvPW0aUvO9MQhY3hx
-----END PRIVATE KEY-----`,
	cert: `-----BEGIN CERTIFICATE-----
MIIBKTCB0AIBATAKBggqhkjOPQQDAjAgMR4wHAYDVQQDDBVlbHNld2hlcmUuZXhh
bXBsZS5jb20wIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMCAxHjAc
BgNVBAMMFWVsc2V3aGVyZS5leGFtcGxlLmNvbTBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABHRSh0XdZPpIGly2d4gmkau+WADvwLZqZrLPzjZdUpBawW5GgH4NRnql
VhhDKT31L/RgvU689bRpS870xCFjeHEwCgYIKoZIzj0EAwIDSAAwRQIgQ8+X5UV+
YYG1pE8XZRvWIRtcn/6If9opRXaQ4ydUXd8CIQDyk9xSspGpqZ1zKcW456BIC2wa
fUA/nOLMyzFb9zkc4g==
-----END CERTIFICATE-----`,
};
