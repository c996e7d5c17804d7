const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
const lowerCase = (text: string) => text.replace(/%../g, (one) => one.toLowerCase());
const form = (text: string) => new URLSearchParams({ a: text }).toString().slice(2);

/** The spellings in which secrets are hidden. The last characters of base64 also depend on the text that follows. */
export const SPELLINGS: Record<string, (text: string) => string> = {
	none: (text) => text,
	component: encodeURIComponent,
	componentInLowerCase: (text) => lowerCase(encodeURIComponent(text)),
	form,
	formInLowerCase: (text) => lowerCase(form(text)),
	json: (text) => JSON.stringify(text).slice(1, -1),
	jsonOfPhp: (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
	hex: (text) => Buffer.from(text).toString('hex'),
	hexInUpperCase: (text) => Buffer.from(text).toString('hex').toUpperCase(),
	base64,
	base64BehindTwoBytes: (text) => base64(`: ${text}`).slice(3),
	base64OfHeader: (text) => base64(`Bearer ${text}`).slice(10),
	base64url: (text) => Buffer.from(text).toString('base64url'),
};
