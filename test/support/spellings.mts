const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
const lowerCase = (text: string) => text.replace(/%../g, (one) => one.toLowerCase());
const form = (text: string) => new URLSearchParams({ a: text }).toString().slice(2);

const code = (one: string) => one.charCodeAt(0).toString(16).toUpperCase();
const strict = (text: string) =>
	encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${code(one)}`);
const restored = (text: string, kept: string) =>
	[...kept].reduce((rest, one) => rest.replaceAll(`%${code(one)}`, one), text);
const escaped = (one: string) => `\\u00${code(one).toLowerCase()}`;
const inDotNet = (json: string) =>
	json.replaceAll('\\"', '\\u0022').replace(/[&'+<>`]/g, (one) => `\\u00${code(one)}`);

/** The spellings in which secrets are hidden. The last characters of base64 also depend on the text that follows. */
export const SPELLINGS: Record<string, (text: string) => string> = {
	none: (text) => text,
	component: encodeURIComponent,
	componentInLowerCase: (text) => lowerCase(encodeURIComponent(text)),
	form,
	formInLowerCase: (text) => lowerCase(form(text)),
	json: (text) => JSON.stringify(text).slice(1, -1),
	jsonOfPhp: (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
	jsonOfDotNet: (text) => inDotNet(JSON.stringify(text).slice(1, -1)),
	jsonOfGo: (text) => JSON.stringify(text).slice(1, -1).replace(/[&<>]/g, escaped),
	jsonOfPhpInJson: (text) => JSON.stringify(SPELLINGS.jsonOfPhp!(text)).slice(1, -1),
	jsonOfPhpInJsonOfPhp: (text) => SPELLINGS.jsonOfPhp!(SPELLINGS.jsonOfPhp!(text)),
	jsonOfDotNetInJson: (text) => JSON.stringify(SPELLINGS.jsonOfDotNet!(text)).slice(1, -1),
	percentEncoded: strict,
	percentEncodedByPython: (text) => strict(text).replaceAll('%2F', '/'),
	percentEncodedByGo: (text) => restored(strict(text), '$&+:=@'),
	percentEncodedByGoInLowerCase: (text) => lowerCase(restored(strict(text), '$&+:=@')),
	encodeUri: encodeURI,
	hex: (text) => Buffer.from(text).toString('hex'),
	hexInUpperCase: (text) => Buffer.from(text).toString('hex').toUpperCase(),
	base64,
	base64BehindTwoBytes: (text) => base64(`: ${text}`).slice(3),
	base64OfHeader: (text) => base64(`Bearer ${text}`).slice(10),
	base64url: (text) => Buffer.from(text).toString('base64url'),
};
