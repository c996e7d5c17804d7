import { validateHeaderName } from 'node:http';

import { InputError } from '../errors.mts';

export const STYLES = [
	'none',
	'header',
	'hmac',
	'standardWebhooks',
	'timestampedSignature',
] as const;
export const ENCODINGS = ['hex', 'base64'] as const;

/** Where deliveries go, and how the receiver can tell that they are genuine. */
export interface WebhookRegistration {
	/** http or https. */
	url: string;
	/**
	 * `none`: no proof. `header`: the secret itself in a header. `hmac`: HMAC-SHA256 of the raw body
	 * in a header. `standardWebhooks`: the three headers of Standard Webhooks. `timestampedSignature`:
	 * time and HMAC-SHA256 in one header, `t=…,v1=…`.
	 */
	style: (typeof STYLES)[number];
	/** Needed by all but `none`; `standardWebhooks` takes Base64, behind `whsec_` or not. */
	secret?: string;
	/** `X-Webhook-Secret` (`header`) or `X-Webhook-Signature` when missing; `standardWebhooks` has none. */
	headerName?: string;
	/** How `hmac` writes the signature; `hex` when missing. */
	encoding?: (typeof ENCODINGS)[number];
	/** Stands before the signature of `hmac`, e.g. `sha256=`. */
	prefix?: string;
	/**
	 * Header of `hmac` that carries the time of the attempt (Unix timestamp in seconds); what is
	 * signed is then `<timestamp>.<body>`. No time is sent when it is missing.
	 */
	timestampHeader?: string;
}

/** A registration with its defaults filled in and without the fields that its style has no use for. */
export interface Webhook extends WebhookRegistration {
	id: number;
}

export const DEFAULT_HEADERS = {
	secret: 'X-Webhook-Secret',
	signature: 'X-Webhook-Signature',
	timestamp: 'X-Webhook-Timestamp',
};

/** Headers that describe the request itself. */
const RESERVED_HEADERS =
	/^(connection|content-.*|expect|host|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * Fills in defaults and leaves out what the style has no use for.
 *
 * @throws {InputError} a field cannot be used
 */
export function completeRegistration(registration: WebhookRegistration): WebhookRegistration {
	const { style, encoding = 'hex', prefix = '' } = registration;
	const url = readUrl(registration.url);
	switch (style) {
		case 'none':
			return { url, style };
		case 'header': {
			const secret = readSecret(registration.secret);
			if (!isPrintable(secret)) {
				throw new InputError(
					'A secret that is sent in a header may have only printable ASCII characters. ' +
						'Choose another secret, or a style that signs.',
				);
			}
			return { url, style, secret, headerName: readHeader(registration.headerName, 'secret') };
		}
		case 'hmac': {
			const secret = readSecret(registration.secret);
			const headerName = readHeader(registration.headerName, 'signature');
			if (!ENCODINGS.includes(encoding)) {
				throw new InputError(`The encoding must be ${ENCODINGS.join(' or ')}.`);
			}
			if (prefix !== '' && !isPrintable(prefix)) {
				throw new InputError(
					'The prefix may have only printable ASCII characters and no space at its ends.',
				);
			}
			const signed = { url, style, secret, headerName, encoding, prefix };
			if (registration.timestampHeader === undefined) return signed;
			const timestampHeader = readHeader(registration.timestampHeader, 'timestamp');
			if (timestampHeader.toLowerCase() === headerName.toLowerCase()) {
				throw new InputError(
					'Signature and timestamp cannot share a header. Choose two different names.',
				);
			}
			return { ...signed, timestampHeader };
		}
		case 'standardWebhooks': {
			const secret = readSecret(registration.secret);
			if (standardKey(secret).length === 0) {
				throw new InputError(
					'A secret of Standard Webhooks is Base64, behind whsec_ or not. Enter such a secret, ' +
						'in the credential of the receiver, too.',
				);
			}
			return { url, style, secret };
		}
		case 'timestampedSignature': {
			const secret = readSecret(registration.secret);
			return { url, style, secret, headerName: readHeader(registration.headerName, 'signature') };
		}
		default:
			throw new InputError(`The style must be one of ${STYLES.join(', ')}.`);
	}
}

/** @returns no byte where the secret is not Base64 */
export function standardKey(secret: string): Buffer {
	const text = secret.replace(/^whsec_/, '');
	return Buffer.from(/^[A-Za-z0-9+/]+={0,2}$/.test(text) ? text : '', 'base64');
}

/** @returns the address in its normal form, so that one address is registered only once */
function readUrl(text: string): string {
	const url = URL.parse(text.trim());
	if (url === null || !['http:', 'https:'].includes(url.protocol)) {
		throw new InputError(
			`"${text}" is not a web address. Enter a full one that begins with http:// or https://.`,
		);
	}
	return url.href;
}

/** @returns it without blanks around it, which the trigger leaves out, too */
function readSecret(text = ''): string {
	const secret = text.trim();
	if (secret === '') {
		throw new InputError('This style needs a secret. Enter the one that the receiver expects.');
	}
	return secret;
}

function readHeader(name: string | undefined, use: keyof typeof DEFAULT_HEADERS): string {
	const header = name?.trim() || DEFAULT_HEADERS[use];
	try {
		validateHeaderName(header);
	} catch {
		throw new InputError(
			`"${header}" is not a header name. Use letters, digits and hyphens, as in ${DEFAULT_HEADERS[use]}.`,
		);
	}
	if (RESERVED_HEADERS.test(header)) {
		throw new InputError(
			`The header ${header} describes the request itself. Choose another name, such as ${DEFAULT_HEADERS[use]}.`,
		);
	}
	return header;
}

/** Whether a header can carry the text unchanged. */
function isPrintable(text: string): boolean {
	return /^[\x20-\x7e]*$/.test(text) && text === text.trim();
}
