/** The spellings in which secrets are hidden. The last characters of base64 also depend on the text that follows. */
export const SPELLINGS: Record<string, (text: string) => string> = {
	none: (text) => text,
	json: (text) => JSON.stringify(text).slice(1, -1),
	percentEncoded: encodeURIComponent,
	base64: (text) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
	base64OfBasic: (text) => Buffer.from(`${text}:`).toString('base64').replace(/=+$/, ''),
};
