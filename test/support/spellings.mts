const percent = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&');
const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');

/** Ways to write a text that come back to it when they are undone. Of those in base64, the last characters also tell what follows. */
export const SPELLINGS: Record<string, (text: string) => string> = {
	none: (text) => text,
	component: encodeURIComponent,
	rawurlencode: (text) => text.replace(/[^\w.~-]/gu, (one) => percent(one).toUpperCase()),
	everyByte: percent,
	lowerCase: (text) => encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase()),
	twice: (text) => encodeURIComponent(encodeURIComponent(text)),
	json: (text) => JSON.stringify(text).slice(1, -1),
	jsonOfPhp: (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
	jsonInJson: (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
	unicodeEscapes: (text) =>
		text.replace(/./gs, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
	html: (text) =>
		text
			.replaceAll('&', '&amp;')
			.replaceAll('"', '&quot;')
			.replaceAll("'", '&#39;')
			.replaceAll('<', '&lt;')
			.replaceAll('/', '&#x2F;'),
	hex: (text) => Buffer.from(text).toString('hex'),
	base64,
	base64OfHeader: (text) => base64(`Bearer ${text}`).slice(10),
	base64InUrl: (text) => encodeURIComponent(base64(text)),
	base64url: (text) => Buffer.from(text).toString('base64url'),
	base64InLines: (text) => base64(text).replace(/.{16}/g, '$&\r\n'),
};
